// SPDX-License-Identifier: LGPL-2.1-or-later
//
// config dump noports, config reload, config diff.
#include "config/difference.h"
#include "ctl/commands.h"
#include "kernel/files/files.h"
#include "json/fields.h"

namespace teamo::ctl {
namespace {

/// The file that is named, or the one that the daemon was started with.
Result<std::string> file_of(Session& session, Arguments arguments) {
    if (!arguments.empty()) return arguments.front();
    auto file = session.call(control::StateItemValueGet{"setup.config_file"});
    if (file && !file->empty()) return file;
    return fail(ENOENT, "the daemon was started without a configuration file; name one");
}

Result<json::Value> request_reload(Session& session, Arguments arguments, bool dry_run) {
    const auto file = TEAMO_TRY(file_of(session, arguments));
    const auto text = TEAMO_TRY(read_file(file, control::longest_request));
    // A request cannot have these: the daemon would only say that its arguments are wrong.
    if (text.empty()) return fail(EINVAL, fmt::format("{}: the file is empty", file));
    if (text.find('\0') != std::string::npos) return fail(EINVAL, fmt::format("{}: has a NUL byte", file));
    return session.document(control::ConfigReload{.file = file, .text = text, .dry_run = dry_run});
}

/// A line for each difference, then for each warning.
std::string text_of_reload(const json::Value& document) {
    std::string text;
    const auto copy = [](const json::Value* value) {
        return value == nullptr ? std::nullopt : std::optional(*value);
    };
    for (const auto& entry : json::array(document, "differences"))
        text += text_of(Difference{.pointer = json::text(entry, "pointer"),
                                   .from = copy(entry.find("from")),
                                   .to = copy(entry.find("to"))}) +
                "\n";
    for (const auto& warning : json::array(document, "warnings"))
        if (const auto* line = warning.string()) text += *line + "\n";
    return text;
}

} // namespace

CommandResult config_dump_noports(Session& session, Arguments) {
    auto document = TEAMO_TRY(session.document(control::ConfigDump{}));
    document.erase("ports");
    session.print(document);
    return {};
}

CommandResult config_diff(Session& session, Arguments arguments) {
    const auto document = TEAMO_TRY(request_reload(session, arguments, /*dry_run=*/true));
    session.print(document, text_of_reload(document));
    return {};
}

CommandResult config_reload(Session& session, Arguments arguments) {
    const auto document = TEAMO_TRY(request_reload(session, arguments, /*dry_run=*/false));
    if (session.options().json || session.options().verbosity > 0)
        session.print(document, text_of_reload(document));
    return {};
}

} // namespace teamo::ctl
