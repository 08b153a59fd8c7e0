// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/units.h"
#include "config/config_file.h"
#include "ctl/commands.h"
#include "ctl/import/team_of_bond.h"
#include "ctl/replace/replacement.h"
#include "kernel/files/files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace teamo::ctl {
namespace {

constexpr const char* configurations = "/etc/teamd-offload";

std::string configuration_of(const std::string& team) {
    return fmt::format("{}/{}.conf", configurations, team);
}

/// A configuration that is there belongs to a team that does not run now.
std::string free_team_name() {
    std::error_code unknown;
    for (int number = 0;; ++number)
        if (auto name = fmt::format("team{}", number);
            !device_name(name) && !std::filesystem::exists(configuration_of(name), unknown))
            return name;
}

/// The administrator's configuration, if the file is there; else that of the bond.
Result<json::Value> document_for(const BondSetup& bond, const Replacement& wanted) {
    std::error_code failed;
    if (std::filesystem::exists(wanted.file, failed)) {
        auto read = read_configuration(TEAMO_TRY(read_file(wanted.file)), wanted.team);
        if (const auto* error = read.first_error()) return fail(EINVAL, text_of(*error, wanted.file));
        const auto* ports = read.configuration->document.find("ports");
        for (const auto& port : bond.ports)
            if (ports == nullptr || ports->find(port.name) == nullptr)
                return fail(EINVAL, fmt::format("{}: /ports has no {}, which is a port of {}", wanted.file,
                                                port.name, wanted.bond));
        return std::move(read.configuration->document);
    }
    auto team = TEAMO_TRY(team_of(bond));
    for (const auto& lost : team.lost)
        warn(lost);
    team.document.set("device", wanted.team);
    return std::move(team.document);
}

/// Both devices have the bond's address for a moment, so that the switch and the neighbours see no change;
/// and a partner sees one LACP system, with the key that the bond's ports in use have. (bonding makes it of
/// ad_user_port_key and the speed.)
void resemble(json::Value& document, const std::string& bond) {
    const std::filesystem::path devices("/sys/class/net");
    if (document.find("hwaddr") == nullptr)
        document.set("hwaddr", sysfs::first_line(devices / bond / "address"));
    const auto key = sysfs::number(devices / bond / "bonding/ad_actor_key"),
               aggregator = sysfs::number(devices / bond / "bonding/ad_aggregator");
    auto* const ports = document.find("ports");
    if (*document.find("runner")->find("name")->string() != "lacp" || !key || ports == nullptr) return;
    for (auto& port : *ports->object())
        if (sysfs::number(devices / port.key / "bonding_slave/ad_aggregator_id") == aggregator)
            port.value.set("lacp_key", *key);
}

} // namespace

CommandResult replace_bond(const Options& options, Arguments words) {
    const auto named = device_name(words[0]);
    if (!named) return fail(ENODEV, fmt::format("{}: there is no such bond", words[0]));
    const auto& name = *named;
    Replacement wanted;
    wanted.bond = name;
    wanted.team = words.size() > 1 ? words[1] : free_team_name();
    wanted.by_systemd = words.size() < 3 && has_systemd();
    wanted.file =
        words.size() > 2 ? std::filesystem::absolute(words[2]).string() : configuration_of(wanted.team);
    if (words.size() < 3) ::mkdir(configurations, 0755);
    const auto bond = TEAMO_TRY(read_bond(name));
    wanted.document = TEAMO_TRY(document_for(bond, wanted));
    resemble(wanted.document, name);
    const auto check = read_document(wanted.document, wanted.team);
    if (const auto* error = check.first_error()) return fail(EINVAL, text_of(*error, name));

    const auto report = TEAMO_TRY(replace(wanted, options));
    put(fmt::format("{0} took over the traffic of {1} after {2} ms; the command took {3} ms\n"
                    "{4} of {5} ports carry; TCP sent {6} of {7} segments again meanwhile\n"
                    "the configuration is {8}; \"{1}\" is an alternative name of {0}\n",
                    wanted.team, name, report.carried.count(), report.ended.count(), report.carrying,
                    report.ports, report.segments_again, report.segments_sent, wanted.file));
    put(fmt::format(
        "Change {0} to {1} in what configures addresses at boot (ifupdown, systemd-networkd, netplan, "
        "NetworkManager), and in firewall rules: after a boot there is no {0}\n",
        name, wanted.team));
    if (!wanted.by_systemd) put("The daemon was started without systemd: it does not start at boot\n");
    if (report.is_renewed)
        put(fmt::format("An address has a lifetime: start the DHCP client for {} before it ends\n",
                        wanted.team));
    return {};
}

} // namespace teamo::ctl
