// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"

#include "model/offload.h"

#include <fmt/format.h>

namespace teamo::ctl {
namespace {

using enum Severity;

void add_mtu(const std::string& name, const Device& port, const std::string& team_name, const Device& team,
             Findings& findings) {
    if (port.mtu == team.mtu) return;
    // A port with a smaller MTU drops larger packets; one with a larger MTU only differs from the
    // configuration.
    findings.push_back({port.mtu < team.mtu ? error : warning, name,
                        fmt::format("its MTU is {}, the MTU of {} is {}", port.mtu, team_name, team.mtu),
                        fmt::format("ip link set {} mtu {}", name, team.mtu)});
}

void add_tso(const std::string& name, const Device& device, std::string_view cost, Findings& findings) {
    if (device.features.active.empty() || device.features.active.contains(tso)) return;
    if (device.features.changeable.contains(tso))
        findings.push_back(
            {warning, name, fmt::format("TSO is off: {}", cost), fmt::format("ethtool -K {} tso on", name)});
    else
        findings.push_back({note, name, fmt::format("has no TSO: {}", cost),
                            fmt::format("ethtool -i {}  (another driver or device may have TSO)", name)});
}

} // namespace

Findings device_findings(const Readings& readings) {
    Findings findings;
    const auto& state = readings.state;
    for (const auto& refused : state.refused)
        findings.push_back(
            {error, refused.where, refused.what,
             fmt::format("journalctl -u teamd-offload@{}  (the daemon tries again when the cause may be "
                         "gone)",
                         state.name)});
    const auto team = readings.devices.find(state.name);
    if (team == readings.devices.end()) return findings;
    add_tso(state.name, team->second, "the CPU segments every packet before a port gets it", findings);
    for (const auto& port : state.ports) {
        const auto device = readings.devices.find(port.name);
        if (device == readings.devices.end()) continue;
        add_mtu(port.name, device->second, state.name, team->second, findings);
        if (!is_tso_disabled_by_config(readings.configuration, port.name))
            add_tso(port.name, device->second, "the CPU segments what leaves by it", findings);
    }
    return findings;
}

} // namespace teamo::ctl
