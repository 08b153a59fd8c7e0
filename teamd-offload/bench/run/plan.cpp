// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/plan.h"

#include "base/take_until.h"
#include "bench/compare.h"

#include <algorithm>
#include <array>

namespace teamo::bench {
namespace {

/// One connection does not fill a link of 1 Gbit/s at each moment, and eight hash buckets do not fill eight
/// ports; the papers had several clients for each port too.
constexpr unsigned clients = 4;

class Cases {
public:
    explicit Cases(const Options& options)
        : datapath_(options.datapaths.empty() ? "" : options.datapaths.front()) {}

    /// Adds a case, or nothing if it is there already.
    void add(Case what) {
        if (what.over == Carrier::team && what.datapath.empty()) what.datapath = datapath_;
        if (std::ranges::find(list_, what) == list_.end()) list_.push_back(std::move(what));
    }
    void add_ways(Case what) {
        for (const auto way : all_ways) {
            what.way = way;
            add(what);
        }
    }
    std::vector<Case> take() { return std::move(list_); }

private:
    std::string datapath_;
    std::vector<Case> list_;
};

Case with_ports(unsigned ports) { return {.ports = ports, .clients = clients}; }

void add_quick(Cases& cases, const Options& options) {
    for (const auto ports : port_counts(options.ports))
        for (const bool tso : {true, false}) {
            auto what = with_ports(ports);
            what.tso = tso;
            cases.add_ways(what);
        }
    for (const auto ports : {1U, options.ports}) {
        auto plain = with_ports(ports);
        plain.over = Carrier::ports;
        cases.add_ways(plain);
    }
    for (const auto over : {Carrier::team, Carrier::ports})
        cases.add(with_load({.over = over, .ports = options.ports}, Load::request));
    for (const auto load : {Load::file, Load::http})
        cases.add(with_load(with_ports(options.ports), load));
}

/// All that can carry, on the same settings: the ports alone, bonding, teamd, and each datapath of ours.
std::vector<Case> carriers(const Options& options) {
    std::vector<Case> list;
    for (const auto& datapath : options.datapaths)
        list.push_back({.datapath = datapath, .clients = clients});
    for (const auto over : {Carrier::ports, Carrier::bond, Carrier::teamd})
        list.push_back({.over = over, .clients = clients});
    return list;
}

void add_peers(Cases& cases, const Options& options) {
    for (const auto ports : {1U, options.ports})
        for (auto what : carriers(options)) {
            what.ports = ports;
            cases.add_ways(what);
        }
}

/// By one port: its packets arrive at one CPU, as those of a card with one interrupt.
void add_bindings(Cases& cases) {
    for (const auto binding : {Binding::unbound, Binding::follow, Binding::cross}) {
        auto what = with_ports(1);
        what.binding = binding;
        cases.add_ways(what);
    }
}

/// The axes of the papers, each around the same middle; all combinations would take weeks.
void add_paper(Cases& cases, const Options& options) {
    for (auto base : carriers(options))
        for (const auto ports : port_counts(options.ports))
            for (const bool tso : {true, false}) {
                base.ports = ports;
                base.tso = tso;
                cases.add_ways(base);
            }
    const auto vary = [&](auto member, auto values, Carrier over = Carrier::team) {
        for (const auto value : values)
            for (const auto ports : {1U, options.ports}) {
                auto what = with_ports(ports);
                what.over = over;
                what.*member = value;
                cases.add_ways(what);
            }
    };
    // TOE compared teamed ports with the same ports unteamed over the sizes.
    for (const auto over : {Carrier::team, Carrier::ports})
        vary(&Case::message, std::array{2'048U, 4'096U, 8'192U, 16'384U, 32'768U, 65'536U}, over);
    vary(&Case::socket_buffer, std::array{65'536U, 131'072U, 262'144U, 1'048'576U});
    vary(&Case::gso_max, std::array{1'514U, 32'160U, 65'536U, 185'000U});
    vary(&Case::mtu, std::array{1'500U, 9'000U});
    vary(&Case::clients, std::array{1U, 2U, 4U, 8U});
    add_bindings(cases);
    for (const auto load : {Load::file, Load::request, Load::http})
        for (const auto over : {Carrier::team, Carrier::ports}) {
            auto what = with_load(with_ports(options.ports), load);
            what.over = over;
            if (load == Load::request)
                cases.add(what);
            else
                cases.add_ways(what);
        }
}

} // namespace

std::vector<unsigned> port_counts(unsigned most) {
    std::vector<unsigned> counts;
    for (unsigned count = 1; count < most; count *= 2)
        counts.push_back(count);
    if (most > 0) counts.push_back(most);
    return counts;
}

bool compares_datapaths(const std::string& profile) { return profile == "peers" || profile == "paper"; }

std::vector<Case> cases_of(const Options& options) {
    Cases cases(options);
    if (options.profile == "paper")
        add_paper(cases, options);
    else if (options.profile == "peers")
        add_peers(cases, options);
    else if (options.profile == "binding")
        add_bindings(cases);
    else
        add_quick(cases, options);
    return cases.take();
}

Result<std::vector<Case>> only_chosen(std::vector<Case> cases, const std::string& only) {
    std::erase_if(cases, [&](const Case& what) {
        const auto name = case_text(what);
        for (std::string_view rest = only;;) {
            if (name.find(take_until(rest, "|")) != std::string::npos) return false;
            if (rest.empty()) return true;
        }
    });
    if (cases.empty())
        return fail(EINVAL, fmt::format("--only: no case of this profile has \"{}\" in its name", only));
    return cases;
}

std::vector<Round> order_of_rounds(std::size_t cases, unsigned rounds) {
    std::vector<Round> order;
    for (unsigned round = 0; round <= rounds; ++round)
        for (std::size_t number = 0; number < cases; ++number)
            order.push_back({.number = number, .counts = round > 0});
    return order;
}

std::chrono::milliseconds length_of(const Round& round, const Options& options) {
    return round.counts ? options.round : std::min(options.round, warm_up);
}

Steps steps_of(std::span<const Round> rounds, const std::vector<Measured>& cases, const Options& options) {
    Steps steps;
    for (const auto& round : rounds) {
        const auto& measured = cases.at(round.number);
        if (!measured.skipped.empty() || !measured.failed.empty()) continue;
        ++steps.count;
        steps.time += length_of(round, options);
    }
    return steps;
}

double payload_rate(double link_mbits, std::uint32_t mtu) {
    return link_mbits * (mtu - ip_and_tcp_headers) / (mtu + ethernet_header);
}

Limit limit_of(const Measured& measured, double mbits, bool shaped) {
    constexpr double busy = 0.9, saturated = 0.98, full = 0.95, bits = 8e-6;
    if (measured.rounds.empty() || measured.what.load == Load::request) return Limit::unknown;
    unsigned by_link = 0, by_cpu = 0;
    const auto is_busy = [](const CpuTime& time) { return time.busy() > busy * (time.busy() + time.idle); };
    for (const auto& round : measured.rounds) {
        const auto room = payload_rate(mbits, measured.what.mtu) * full * round.seconds / bits;
        const bool tx_full = measured.what.way == Way::receive || round.sent >= room;
        const bool rx_full = measured.what.way == Way::transmit || round.received >= room;
        if (mbits > 0 && tx_full && rx_full) ++by_link;
        CpuTime all;
        for (const auto& [cpu, time] : round.cpus)
            all += time;
        const bool end_busy =
            round.host && round.far ? is_busy(*round.host) || is_busy(*round.far) : is_busy(all);
        // One CPU that takes all interrupts, or the thread of one connection, limits too.
        const bool one_full = std::ranges::any_of(round.cpus, [](const auto& cpu) {
            return cpu.second.busy() > saturated * (cpu.second.busy() + cpu.second.idle);
        });
        if (end_busy || one_full) ++by_cpu;
    }
    // A full link says more than a busy CPU: with more CPU it would not be faster.
    if (std::size_t{2} * by_link > measured.rounds.size()) return shaped ? Limit::shaper : Limit::link;
    if (std::size_t{2} * by_cpu > measured.rounds.size()) return Limit::cpu;
    return Limit::unknown;
}

} // namespace teamo::bench
