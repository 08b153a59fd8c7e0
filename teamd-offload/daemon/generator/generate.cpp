// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/generator/generate.h"

#include "config/config_file.h"
#include "daemon/generator/unit_rights.h"
#include "kernel/files/files.h"
#include "runtime/journal.h"

#include <system_error>

namespace teamo {
namespace {

bool has_bound_workers(const std::filesystem::path& journal) {
    const auto text = read_file(journal, longest_journal);
    if (!text) return false; // the team does not run
    const auto read = parse_journal(*text);
    return read && !read->workers.empty();
}

Result<UnitRights> read_rights(const std::filesystem::path& file, const std::string& team) {
    const auto read = read_configuration(TEAMO_TRY(read_file(file)), team);
    if (read.configuration) return rights_of(read.configuration->team);
    const auto* why = read.refusal();
    return fail(EINVAL, why != nullptr ? text_of(*why, file.native())
                                       : fmt::format("{}: is no configuration", file.native()));
}

std::string drop_in_of(const std::filesystem::path& file, const std::filesystem::path& journals,
                       std::vector<Error>& errors) {
    const auto team = file.stem().native();
    auto read = read_rights(file, team);
    if (!read) {
        errors.push_back(std::move(read.error()));
        errors.back().text += "; its unit gets no additional rights until the next daemon-reload";
    }
    auto rights = read.value_or(UnitRights{});
    rights.binds_processes |= has_bound_workers(journals / (team + ".json"));
    return drop_in(rights);
}

} // namespace

std::vector<Error> generate_drop_ins(const std::filesystem::path& configurations,
                                     const std::filesystem::path& journals,
                                     const std::filesystem::path& units) {
    std::vector<Error> errors;
    std::error_code none; // no folder: no team
    for (const auto& entry : std::filesystem::directory_iterator(configurations, none)) {
        if (entry.path().extension() != ".conf") continue;
        const auto text = drop_in_of(entry.path(), journals, errors);
        if (text.empty()) continue;
        const auto folder = units / ("teamd-offload@" + entry.path().stem().native() + ".service.d");
        std::error_code failed;
        std::filesystem::create_directories(folder, failed);
        auto written = failed ? Result<>(fail_errno(failed.value(), folder.native()))
                              : replace_file(folder / "rights.conf", text, 0644);
        if (!written) errors.push_back(std::move(written.error()));
    }
    return errors;
}

} // namespace teamo
