// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"

#include "model/offload.h"
#include "json/fields.h"

#include <fmt/format.h>

namespace teamo::ctl {
namespace {

using enum Severity;

void add_mtu(const std::string& name, const Device& port, const std::string& team_name, const Device& team,
             Findings& findings) {
    if (port.mtu == team.mtu) return;
    // A port that takes less loses what is larger; one that takes more is just not as configured.
    findings.push_back({port.mtu < team.mtu ? error : warning, name,
                        fmt::format("its MTU is {}, that of {} is {}", port.mtu, team_name, team.mtu),
                        fmt::format("ip link set {} mtu {}", name, team.mtu)});
}

void add_tso(const std::string& name, const Device& device, std::string_view price, Findings& findings) {
    if (device.features.active.empty() || device.features.active.contains(tso)) return;
    if (device.features.changeable.contains(tso))
        findings.push_back(
            {warning, name, fmt::format("TSO is off: {}", price), fmt::format("ethtool -K {} tso on", name)});
    else
        findings.push_back({note, name, fmt::format("has no TSO: {}", price),
                            fmt::format("ethtool -i {}  (another driver or device may have it)", name)});
}

} // namespace

Findings device_findings(const Readings& readings) {
    Findings findings;
    const auto& state = readings.state;
    for (const auto& refused : json::array(state.document, "refused"))
        findings.push_back(
            {error, json::text(refused, "where"), json::text(refused, "what"),
             fmt::format("journalctl -u teamd-offload@{}  (it is tried again by itself when that "
                         "may have changed)",
                         state.name)});
    const auto team = readings.devices.find(state.name);
    if (team == readings.devices.end()) return findings;
    add_tso(state.name, team->second, "every packet is cut before it comes to a port", findings);
    for (const auto& port : state.ports) {
        const auto device = readings.devices.find(port.name);
        if (device == readings.devices.end()) continue;
        add_mtu(port.name, device->second, state.name, team->second, findings);
        if (!tso_is_unwanted(readings.configuration, port.name))
            add_tso(port.name, device->second, "what leaves by it is cut by the CPU", findings);
    }
    return findings;
}

} // namespace teamo::ctl
