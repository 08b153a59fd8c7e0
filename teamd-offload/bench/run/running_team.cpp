// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/peer.h"

#include "control/client.h"
#include "control/state_document.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/files/device_files.h"
#include "kernel/netlink/links.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace teamo::bench {
namespace {

using control::TeamState;

Result<TeamState> state_of(const std::string& team) {
    auto client = control::Client::connect(team);
    if (!client) return within(team, std::move(client.error()));
    return control::read_state(TEAMO_TRY(client->document(control::StateDump{})));
}

/// "igb, virtio_net": the drivers of the ports, each once.
std::string drivers_of(LinkControl& links, const std::vector<PortStatus>& ports) {
    std::set<std::string> names;
    for (const auto& port : ports) {
        const auto link = links.read(port.ifindex);
        const auto folder = link ? find_device_folder(*link) : tl::unexpected(link.error());
        if (!folder) continue;
        std::error_code none;
        const auto driver = std::filesystem::canonical(folder->device / "driver", none);
        names.insert(none ? link->kind : driver.filename().string());
    }
    names.erase("");
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Sets what the links carry. A backup carries nothing, and a broadcast is the same on all ports.
void set_speed(RunningTeam& team, const TeamState& state) {
    double slowest = 0;
    unsigned carrying = 0;
    for (const auto& port : state.ports) {
        if (!port.transmits) continue;
        const auto speed = static_cast<double>(port.link.speed.value_or(0));
        slowest = ++carrying == 1 ? speed : std::min(slowest, speed);
    }
    team.link_mbits = slowest;
    team.mbits = slowest * (state.runner == "broadcast" ? 1 : carrying);
}

} // namespace

Result<RunningTeam> running_team(const std::string& name) {
    auto links = TEAMO_TRY(LinkControl::open());
    const auto device = TEAMO_TRY(links.read(name)); // by an alternative name, too
    const auto state = TEAMO_TRY(state_of(device.name));
    auto ethtool = TEAMO_TRY(Ethtool::open());
    RunningTeam team{.tso = true, .mtu = device.mtu, .datapath = state.datapath};
    team.driver = drivers_of(links, state.ports);
    for (const auto& port : state.ports) {
        team.ports[port.name] = port.ifindex;
        const auto features = TEAMO_TRY(ethtool.read_features(port.ifindex));
        team.tso = team.tso && features.active.contains(tso);
    }
    if (team.ports.empty()) return fail(ENODEV, "the team has no ports");
    set_speed(team, state);
    if (state.counts_by_program) // otherwise cards may count
        team.read_counters = [own_name = device.name]() -> Result<std::map<std::string, PortCounters>> {
            std::map<std::string, PortCounters> counted;
            for (const auto& port : TEAMO_TRY(state_of(own_name)).ports)
                counted[port.name] = port.counters;
            return counted;
        };
    return team;
}

} // namespace teamo::bench
