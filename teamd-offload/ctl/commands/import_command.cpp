// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What other programs have configured, as a configuration of ours.
#include "config/config_file.h"
#include "ctl/commands.h"
#include "ctl/import/team_of_bond.h"
#include "kernel/files/files.h"
#include "plan/team/bond_steering.h"
#include "json/write.h"

#include <algorithm>
#include <filesystem>

namespace teamo::ctl {
namespace {

/// A configuration for teamd, and where it is.
struct TeamdConfiguration {
    std::string where;
    Result<std::string> text;
};

/// The files from which teamd@.service starts, and what the teams run with that something else started.
Result<std::vector<TeamdConfiguration>> present_configurations(const Options& options) {
    std::vector<TeamdConfiguration> found;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/etc/teamd", failed))
        if (const auto file = entry.path().string(); file.ends_with(".conf"))
            found.push_back({file, read_file(file)});
    std::ranges::sort(found, {}, &TeamdConfiguration::where);
    auto also_waiting = options; // a daemon that waits for its bond knows its configuration
    also_waiting.waiting = true;
    for (const auto& team : TEAMO_TRY(running_teams())) {
        auto session = Session::open(team, also_waiting);
        found.push_back({team, session ? session->call(control::ConfigDump{})
                                       : Result<std::string>(tl::unexpected(session.error()))});
    }
    return found;
}

/// Prints what would happen. False: it would not start.
bool check(const TeamdConfiguration& found) {
    if (!found.text) {
        put(found.text.error().text + "\n");
        return false;
    }
    const auto read = read_configuration(*found.text, "");
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

/// A bond with the policy that steers may have it from a daemon, which knows that of the owner.
void ask_for_own_policy(const Options& options, BondSetup& bond) {
    const auto policy = bond.options.find("xmit_hash_policy");
    if (policy == bond.options.end() || !policy->second.starts_with(name_of(steering_policy))) return;
    auto session = Session::open(bond.device, options);
    const auto state = session ? session->state() : Result<TeamState>(tl::unexpected(session.error()));
    if (!state && state.error().number != ENOENT)
        warn(fmt::format(
            "xmit_hash_policy {}: may be set by a daemon that steers the bond, which does not say "
            "what its owner has chosen: {}",
            name_of(steering_policy), state.error().text));
    if (state && state->attached) use_own_policy(bond, *state->attached);
}

} // namespace

CommandResult import_bond(const Options& options, Arguments words) {
    const auto device = TEAMO_TRY(device_name(words[0]));
    auto bond = TEAMO_TRY(read_bond(device));
    ask_for_own_policy(options, bond);
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

CommandResult import_teamd(const Options& options, Arguments words) {
    std::vector<TeamdConfiguration> found;
    for (const auto& file : words)
        found.push_back({file, read_file(file)});
    if (words.empty()) found = TEAMO_TRY(present_configurations(options));
    if (found.empty()) return fail(ENOENT, "no file in /etc/teamd, and no team runs");
    auto status = ExitStatus::success;
    for (const auto& configuration : found)
        if (!check(configuration)) status = ExitStatus::failure;
    return status;
}

} // namespace teamo::ctl
