// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What other programs have configured, as a configuration of ours.
#include "config/config_file.h"
#include "ctl/commands.h"
#include "ctl/import/bond_options.h"
#include "ctl/import/settings_file.h"
#include "kernel/files/files.h"
#include "json/write.h"

#include <algorithm>
#include <filesystem>

namespace teamo::ctl {
namespace {

namespace fs = std::filesystem;

/// A configuration for teamd, and the file that has it.
struct TeamdConfiguration {
    std::string where, text, device{};
};

/// GKeyFile's escapes, which NetworkManager uses.
std::string unescaped(std::string_view value) {
    std::string text;
    for (std::size_t at = 0; at < value.size(); ++at) {
        const bool escape = value[at] == '\\' && at + 1 < value.size();
        const char letter = escape ? value[++at] : value[at];
        text += !escape ? letter : letter == 'n' ? '\n' : letter == 't' ? '\t' : letter == 's' ? ' ' : letter;
    }
    return text;
}

/// None: the file is not about a team.
std::optional<TeamdConfiguration> configuration_in(const fs::path& file, const std::string& text) {
    const auto name = file.string();
    const auto settings = read_settings(text);
    if (file.extension() == ".nmconnection") {
        if (find(settings, "connection", "type") != "team") return std::nullopt;
        return TeamdConfiguration{name, unescaped(find(settings, "team", "config").value_or("{}")),
                                  find(settings, "connection", "interface-name").value_or("")};
    }
    if (file.filename().string().starts_with("ifcfg-")) {
        const auto value = find(settings, "", "TEAM_CONFIG");
        if (!value) return std::nullopt;
        const auto words = shell_words(*value),
                   device = shell_words(find(settings, "", "DEVICE").value_or(""));
        return TeamdConfiguration{name, words.empty() ? "" : words[0], device.empty() ? "" : device[0]};
    }
    return TeamdConfiguration{name, text};
}

/// Where teamd's configurations are, by the programs that start it.
std::vector<std::string> installed_files() {
    std::vector<std::string> files;
    for (const auto* folder :
         {"/etc/teamd", "/etc/NetworkManager/system-connections", "/etc/sysconfig/network-scripts"}) {
        std::error_code failed;
        for (const auto& entry : fs::directory_iterator(folder, failed)) {
            const auto name = entry.path().filename().string();
            if (name.ends_with(".conf") || name.ends_with(".nmconnection") || is_ifcfg(entry.path()))
                files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    return files;
}

/// Prints what would happen. False: it would not start.
bool check(const TeamdConfiguration& found) {
    const auto read = read_configuration(found.text, found.device);
    for (const auto& diagnostic : read.diagnostics)
        put(text_of(diagnostic, found.where) + "\n");
    if (!read.configuration) {
        put(fmt::format("{}: does not start with teamd-offload\n", found.where));
        return false;
    }
    const auto& team = read.configuration->team;
    put(fmt::format("{}: {}: starts, runner {}, {} ports\n", found.where,
                    team.device.empty() ? "(the first free team%d)" : team.device, name_of(team.runner),
                    team.ports.size()));
    return true;
}

} // namespace

CommandResult import_bond(const Options& /*options*/, Arguments words) {
    const auto bond = TEAMO_TRY(read_bond(words[0], words.size() > 1 ? words[1] : ""));
    const auto team = TEAMO_TRY(within(words[0], team_of(bond)));
    for (const auto& lost : team.lost)
        warn(lost);
    put(json::write(team.document, {.sort_keys = false}) + "\n");
    // What bonding allows and a team does not, for example more than eight ports.
    auto status = ExitStatus::success;
    for (const auto& diagnostic : read_document(team.document).diagnostics) {
        warn(text_of(diagnostic, bond.device));
        if (diagnostic.severity == Diagnostic::Severity::error) status = ExitStatus::failure;
    }
    return status;
}

CommandResult import_teamd(const Options& /*options*/, Arguments words) {
    auto files = std::vector<std::string>(words.begin(), words.end());
    if (files.empty()) files = installed_files();
    auto status = ExitStatus::success;
    std::size_t count = 0;
    for (const auto& file : files) {
        const auto text = read_file(file);
        const auto found = text ? configuration_in(file, *text) : std::nullopt;
        if (text && !found) continue;
        ++count;
        if (!text) put(text.error().text + "\n");
        if (!found || !check(*found)) status = ExitStatus::failure;
    }
    if (count == 0) return fail(ENOENT, "no configuration of teamd found");
    return status;
}

} // namespace teamo::ctl
