// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/findings.h"
#include "ctl/units.h"

#include <fmt/format.h>

namespace teamo::ctl {
namespace {

using enum Severity;

void add_received(const Readings& readings, const PortStatus& port, Findings& findings) {
    const auto* before = find_port(readings.before, port.name);
    // A backup port drops what the switch floods: that is normal.
    if (before == nullptr || readings.state.runner == "activebackup") return;
    if (port.counters.rx_dropped <= before->counters.rx_dropped) return;
    findings.push_back(
        {warning, port.name,
         fmt::format("{} in a second arrived and were dropped, because the port does not carry",
                     counted(port.counters.rx_dropped - before->counters.rx_dropped, "packet", "packets")),
         fmt::format("teamoctl {} state  (the switch sends to a port that does not carry)",
                     readings.state.name)});
}

} // namespace

Findings drop_findings(const Readings& readings) {
    Findings findings;
    for (const auto& port : readings.state.ports) {
        add_received(readings, port, findings);
        const auto device = readings.devices.find(port.name);
        if (device == readings.devices.end() || device->second.queue_dropped == 0) continue;
        findings.push_back({warning, port.name,
                            fmt::format("its qdisc dropped {} in a second",
                                        counted(device->second.queue_dropped, "packet", "packets")),
                            fmt::format("tc -s qdisc show dev {}", port.name)});
    }
    return findings;
}

} // namespace teamo::ctl
