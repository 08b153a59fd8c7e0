// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A healthy team; a test adds the problem.
#pragma once

#include "ctl/doctor/findings.h"

namespace teamo::ctl {

inline PortStatus good_port(const std::string& name, std::uint32_t index) {
    PortStatus port;
    port.name = name;
    port.ifindex = IfIndex{index};
    port.link = {.up = true, .speed = 1000, .duplex = Duplex::full};
    port.link_up = port.transmits = port.receives = true;
    port.buckets = 64;
    return port;
}

inline TeamState good_team(unsigned ports = 4) {
    TeamState state;
    state.name = "team0";
    state.runner = "loadbalance";
    state.datapath = "bpf";
    state.version = "1.2.3";
    state.counts_by_program = true;
    state.ifindex = IfIndex{9};
    state.balance.emplace();
    state.balance->counted = true;
    for (unsigned number = 1; number <= ports; ++number) {
        const auto name = "eth" + std::to_string(number);
        state.ports.push_back(good_port(name, number));
        state.balance->ports.push_back({.name = name, .capacity = 125e6});
    }
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        state.balance->leaves_by[bucket] = state.ports[bucket % ports].name;
    return state;
}

inline Readings good_readings(unsigned ports = 4) {
    Readings readings;
    readings.state = readings.before = good_team(ports);
    readings.installed = readings.state.version;
    readings.unit = "teamd-offload@team0.service";
    const Device device{.up = true,
                        .mtu = 1500,
                        .features = {.active = {"tx-tcp-segmentation"},
                                     .wanted = {"tx-tcp-segmentation"},
                                     .changeable = {"tx-tcp-segmentation"}},
                        .queue_dropped = 0};
    readings.devices["team0"] = device;
    for (const auto& port : readings.state.ports) {
        readings.devices[port.name] = device;
        readings.rates[port.name] = 50e6;
    }
    return readings;
}

} // namespace teamo::ctl
