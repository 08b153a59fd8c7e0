// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Results as a run gives them: eight ports shaped to 1 Gbit/s on two CPUs. A model, not a measurement.
#pragma once

#include "bench/results.h"

#include <algorithm>

namespace teamo::bench {

/// CPU seconds for a GiB, sender and receiver together.
inline double sample_cost(const Case& what) {
    double cost = what.tso ? 0.55 : 1.35;
    if (what.way == Way::receive) cost *= 1.1;
    if (what.way == Way::both) cost *= 1.2;
    cost *= 1 + 6'000.0 / (what.message + 4'000.0);
    if (what.binding == Binding::follow) cost *= 0.9;
    if (what.binding == Binding::cross) cost *= 1.15;
    if (what.over == Carrier::ports) cost *= 0.95;
    if (what.over == Carrier::bond) cost *= 1.02;
    if (what.over == Carrier::teamd) cost *= 1.03;
    if (what.mtu == 9'000) cost *= 0.85;
    if (what.gso_max < 32'768) cost *= 1.8;
    return cost;
}

/// Each round differs by 1 %.
inline Sample sample_round(const Case& what, unsigned round) {
    constexpr double gib = 1024.0 * 1024 * 1024, seconds = 10, cpus = 2;
    const double ways = what.way == Way::both ? 2 : 1;
    const double wire = 941e6 / 8 * what.ports * ways;
    const double noise = 1 + 0.01 * (static_cast<double>(round % 3) - 1);
    const double cost = sample_cost(what) * noise;
    const double rate = std::min(wire, cpus * 0.98 * gib / cost);
    Sample sample{.seconds = seconds, .speed = 180};
    const double bytes = rate * seconds;
    sample.sent = what.way == Way::receive ? 0 : bytes / ways;
    sample.received = what.way == Way::transmit ? 0 : bytes / ways;
    const double busy = bytes / gib * cost;
    for (unsigned number = 0; number < 2; ++number)
        sample.cpus[number] = {.user = busy / 2 * 0.06,
                               .system = busy / 2 * 0.55,
                               .softirq = busy / 2 * 0.38,
                               .irq = busy / 2 * 0.01,
                               .idle = seconds - busy / 2};
    sample.host_threads = busy * 0.4;
    sample.far_threads = busy * 0.35;
    if (what.over == Carrier::team) sample.host_daemon = sample.far_daemon = 0.012;
    for (unsigned number = 1; number <= what.ports; ++number) {
        const double out = sample.sent / what.ports, in = sample.received / what.ports;
        const double skb = what.tso ? 44'000 : 1'448;
        sample.ports["eth" + std::to_string(number)] = {
            .tx_bytes = static_cast<std::uint64_t>(out * 1.045),
            .tx_skbs = static_cast<std::uint64_t>(out / skb + in / 30'000),
            .tx_packets = static_cast<std::uint64_t>(out / 1'448 + in / 30'000),
            .rx_bytes = static_cast<std::uint64_t>(in * 1.045),
            .rx_skbs = static_cast<std::uint64_t>(in / 24'000 + out / 30'000),
            .rx_packets = static_cast<std::uint64_t>(in / 1'448 + out / 30'000)};
    }
    return sample;
}

inline Measured sample_case(const Case& what, unsigned rounds = 3) {
    Measured measured{.what = what};
    for (unsigned round = 0; round < rounds; ++round)
        measured.rounds.push_back(sample_round(what, round));
    const auto& time = measured.rounds.front().cpus.begin()->second;
    measured.limit = time.idle < 0.5 ? Limit::cpu : Limit::shaper;
    return measured;
}

/// Of requests: what matters is the time of an answer.
inline Measured sample_requests(const Case& what, double median) {
    auto measured = sample_case(what);
    for (auto& round : measured.rounds) {
        round.operations = 250'000;
        round.latency = {{50, median}, {90, median * 1.6}, {99, median * 3}, {99.9, median * 9}};
    }
    measured.limit = Limit::cpu;
    return measured;
}

inline void add_settings(Results& results, const Case& usual) {
    for (const auto way : {Way::transmit, Way::receive, Way::both})
        for (const auto binding : {Binding::unbound, Binding::follow, Binding::cross}) {
            auto what = usual;
            what.way = way;
            what.ports = 8;
            what.binding = binding;
            results.cases.push_back(sample_case(what));
        }
    for (const auto over : {Carrier::team, Carrier::ports})
        for (const std::uint32_t message : {2'048U, 8'192U, 65'536U}) {
            auto what = usual;
            what.ports = 4;
            what.message = message;
            what.over = over;
            if (over == Carrier::ports) what.datapath.clear();
            results.cases.push_back(sample_case(what));
        }
    for (const auto& [mtu, gso] : {std::pair{1'500U, 1'514U}, {1'500U, 180'000U}, {9'000U, 65'536U}}) {
        auto what = usual;
        what.ports = 4;
        what.mtu = mtu;
        what.gso_max = gso;
        results.cases.push_back(sample_case(what));
    }
}

/// Ways, ports, TSO, carriers, bindings, sizes and loads; three rounds of each.
inline Results sample_results() {
    Results results{.machine = {.kernel = "6.18.0",
                                .cpu = "Example CPU <model> & \"stepping\"",
                                .driver = "veth",
                                .cpus = 2,
                                .version = "0.1.0",
                                .date = "2026-11-24T22:00:00Z",
                                .sysctls = {{"net.ipv4.tcp_rmem", "4096 131072 6291456"},
                                            {"net.ipv4.tcp_wmem", "4096 16384 4194304"}},
                                .nftables = "none",
                                .link_mbits = 1000,
                                .shaped_by = "tbf"},
                    .profile = "paper"};
    const Case usual{.over = Carrier::team, .datapath = "bpf"};
    for (const auto way : {Way::transmit, Way::receive, Way::both})
        for (const unsigned ports : {1U, 2U, 4U, 8U})
            for (const auto over : {Carrier::team, Carrier::ports})
                for (const bool tso : {true, false}) {
                    auto what = usual;
                    what.way = way;
                    what.ports = ports;
                    what.over = over;
                    what.tso = tso;
                    if (over == Carrier::ports) what.datapath.clear();
                    results.cases.push_back(sample_case(what));
                }
    add_settings(results, usual);
    for (const auto load : {Load::request, Load::http, Load::file}) {
        auto what = with_load(usual, load);
        what.ports = 8;
        results.cases.push_back(sample_requests(what, 55));
        what.over = Carrier::ports;
        what.datapath.clear();
        results.cases.push_back(sample_requests(what, 52));
    }
    results.cases.push_back(
        {.what = {.over = Carrier::bond, .ports = 8}, .skipped = "this kernel has no bonding driver"});
    return results;
}

} // namespace teamo::bench
