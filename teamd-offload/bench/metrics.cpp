// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/metrics.h"

#include "text/numbers.h"

#include <algorithm>

namespace teamo::bench {
namespace {

constexpr double kib = 1024, mega = 1e6, giga = 1e9;

std::optional<CpuTime> time_on(const Sample& round, Basis basis) {
    if (basis == Basis::host && round.host) return round.host;
    if (round.cpus.empty()) return std::nullopt;
    CpuTime sum;
    for (const auto& [number, time] : round.cpus)
        sum += time;
    return sum;
}

std::optional<double> ratio(double part, double whole) {
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

/// Payload of the ways that the case measures: what flows back in a one-way case are acknowledgements.
double payload(const Case& what, const Sample& round) {
    switch (what.way) {
    case Way::transmit: return round.sent;
    case Way::receive: return round.received;
    case Way::both: break;
    }
    return round.sent + round.received;
}

PortTraffic sum_of_ports(const Sample& round) {
    PortTraffic sum;
    for (const auto& [name, port] : round.ports)
        for (const auto count : {&PortTraffic::tx_bytes, &PortTraffic::tx_skbs, &PortTraffic::tx_packets,
                                 &PortTraffic::rx_bytes, &PortTraffic::rx_skbs, &PortTraffic::rx_packets})
            sum.*count += port.*count;
    return sum;
}

/// In per cent of the CPUs counted.
std::optional<double> cpu_share(const Sample& round, Basis basis, double (*part)(const CpuTime&)) {
    const auto time = time_on(round, basis);
    return time ? ratio(100 * part(*time), time->busy() + time->idle) : std::nullopt;
}

/// Microseconds for a KiB of payload. None for threads that were not measured.
std::optional<double> demand(const Case& what, const Sample& round, double seconds) {
    return seconds > 0 ? ratio(seconds * mega, payload(what, round) / kib) : std::nullopt;
}

/// None: they were not counted.
std::optional<double> skbs(const Sample& round) {
    const auto sum = sum_of_ports(round);
    const auto all = static_cast<double>(sum.tx_skbs + sum.rx_skbs);
    return all > 0 ? std::optional(all) : std::nullopt;
}

std::optional<double> by_port(const Sample& round, std::uint64_t PortTraffic::* count) {
    return ratio(static_cast<double>(sum_of_ports(round).*count),
                 round.seconds * static_cast<double>(round.ports.size()));
}

std::optional<double> mean_bytes(const Sample& round, std::uint64_t PortTraffic::* bytes,
                                 std::uint64_t PortTraffic::* skbs) {
    const auto sum = sum_of_ports(round);
    return ratio(static_cast<double>(sum.*bytes), static_cast<double>(sum.*skbs));
}

std::optional<double> percentile(const Sample& round, double of) {
    const auto found = round.latency.find(of);
    return found == round.latency.end() ? std::nullopt : std::optional(found->second);
}

bool is_of_host(const Measured& measured) {
    return std::ranges::all_of(measured.rounds, [](const Sample& round) { return round.host.has_value(); });
}

} // namespace

Basis basis_of(const Results& results) {
    const auto decides = [](const Measured& measured) {
        return measured.what.binding == Binding::none && !measured.rounds.empty();
    };
    const bool any = std::ranges::any_of(results.cases, decides);
    const bool of_host = std::ranges::all_of(results.cases, [&](const Measured& measured) {
        return (any && !decides(measured)) || is_of_host(measured);
    });
    return of_host ? Basis::host : Basis::machine;
}

Basis basis_of(const Results& results, const Measured& measured) {
    return is_of_host(measured) ? basis_of(results) : Basis::machine;
}

std::optional<double> throughput(const Case& what, const Sample& round, Basis) {
    if (payload(what, round) == 0) return std::nullopt;
    return ratio(payload(what, round) / bytes_per_megabit, round.seconds);
}

std::optional<double> cpu(const Case&, const Sample& round, Basis basis) {
    return cpu_share(round, basis, [](const CpuTime& time) { return time.busy(); });
}

std::optional<double> cpu_user(const Case&, const Sample& round, Basis basis) {
    return cpu_share(round, basis, [](const CpuTime& time) { return time.user; });
}

std::optional<double> cpu_system(const Case&, const Sample& round, Basis basis) {
    return cpu_share(round, basis, [](const CpuTime& time) { return time.system; });
}

std::optional<double> cpu_softirq(const Case&, const Sample& round, Basis basis) {
    return cpu_share(round, basis, [](const CpuTime& time) { return time.softirq + time.irq; });
}

std::optional<double> process_cpu(const Case&, const Sample& round, Basis) {
    return round.host_threads > 0 ? ratio(100 * round.host_threads, round.seconds) : std::nullopt;
}

std::optional<double> daemon_cpu(const Case&, const Sample& round, Basis) {
    return round.host_daemon ? ratio(100 * *round.host_daemon, round.seconds) : std::nullopt;
}

std::optional<double> far_daemon_cpu(const Case&, const Sample& round, Basis) {
    return round.far_daemon ? ratio(100 * *round.far_daemon, round.seconds) : std::nullopt;
}

std::optional<double> service_demand(const Case& what, const Sample& round, Basis basis) {
    const auto time = time_on(round, basis);
    return time ? demand(what, round, time->busy()) : std::nullopt;
}

std::optional<double> far_service_demand(const Case& what, const Sample& round, Basis) {
    return round.far ? demand(what, round, round.far->busy()) : std::nullopt;
}

std::optional<double> process_demand(const Case& what, const Sample& round, Basis) {
    return demand(what, round, round.host_threads);
}

std::optional<double> far_process_demand(const Case& what, const Sample& round, Basis) {
    return demand(what, round, round.far_threads);
}

std::optional<double> pe_index(const Case& what, const Sample& round, Basis basis) {
    const auto time = time_on(round, basis);
    const auto sent = payload(what, round);
    return time && sent > 0 ? ratio(sent / bytes_per_megabit, 100 * time->busy()) : std::nullopt;
}

std::optional<double> tx_packets(const Case&, const Sample& round, Basis) {
    return by_port(round, &PortTraffic::tx_packets);
}

std::optional<double> rx_packets(const Case&, const Sample& round, Basis) {
    return by_port(round, &PortTraffic::rx_packets);
}

std::optional<double> tx_skbs(const Case&, const Sample& round, Basis) {
    return skbs(round) ? by_port(round, &PortTraffic::tx_skbs) : std::nullopt;
}

std::optional<double> rx_skbs(const Case&, const Sample& round, Basis) {
    return skbs(round) ? by_port(round, &PortTraffic::rx_skbs) : std::nullopt;
}

std::optional<double> tx_skb_bytes(const Case&, const Sample& round, Basis) {
    return mean_bytes(round, &PortTraffic::tx_bytes, &PortTraffic::tx_skbs);
}

std::optional<double> rx_skb_bytes(const Case&, const Sample& round, Basis) {
    return mean_bytes(round, &PortTraffic::rx_bytes, &PortTraffic::rx_skbs);
}

std::optional<double> fullest_port(const Case&, const Sample& round, Basis) {
    std::uint64_t fullest = 0, sum = 0;
    for (const auto& [name, port] : round.ports) {
        fullest = std::max(fullest, port.tx_bytes + port.rx_bytes);
        sum += port.tx_bytes + port.rx_bytes;
    }
    return ratio(static_cast<double>(fullest) * static_cast<double>(round.ports.size()),
                 static_cast<double>(sum));
}

std::optional<double> packet_saving(const Case&, const Sample& round, Basis) {
    const auto sum = sum_of_ports(round);
    return ratio(static_cast<double>(sum.tx_packets + sum.rx_packets), skbs(round).value_or(0));
}

std::optional<double> io_by_size(const Case& what, const Sample& round, Basis) {
    const auto sent = payload(what, round);
    return sent > 0 ? ratio(sent / kib * 2, round.seconds) : std::nullopt;
}

std::optional<double> io_measured(const Case&, const Sample& round, Basis) {
    const auto counted = skbs(round);
    return counted ? ratio(*counted, round.seconds) : std::nullopt;
}

std::optional<double> io_time(const Case&, const Sample& round, Basis basis) {
    const auto time = time_on(round, basis);
    return time ? ratio(time->busy() * mega, skbs(round).value_or(0)) : std::nullopt;
}

std::optional<double> file_time(const Case& what, const Sample& round, Basis) {
    if (what.load != Load::file) return std::nullopt;
    // Each connection transfers one file after the other; both ways have connections of their own.
    const unsigned ways = what.way == Way::both ? 2 : 1;
    return ratio(1000 * round.seconds * what.ports * what.clients * ways,
                 static_cast<double>(round.operations));
}

std::optional<double> gigabyte_time(const Case& what, const Sample& round, Basis) {
    return ratio(round.seconds * giga, payload(what, round));
}

std::optional<double> operations(const Case& what, const Sample& round, Basis) {
    if (what.load == Load::stream) return std::nullopt;
    return ratio(static_cast<double>(round.operations), round.seconds);
}

std::optional<double> latency_50(const Case&, const Sample& round, Basis) { return percentile(round, 50); }
std::optional<double> latency_90(const Case&, const Sample& round, Basis) { return percentile(round, 90); }
std::optional<double> latency_99(const Case&, const Sample& round, Basis) { return percentile(round, 99); }
std::optional<double> latency_99_9(const Case&, const Sample& round, Basis) {
    return percentile(round, 99.9);
}

std::optional<double> joules_per_gb(const Case& what, const Sample& round, Basis) {
    return round.joules ? ratio(*round.joules, payload(what, round) / giga) : std::nullopt;
}

std::optional<double> own_speed(const Case&, const Sample& round, Basis) { return round.speed; }

std::optional<Spread> spread_of(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    const auto [low, high] = std::ranges::minmax(values);
    return Spread{.median = median(values), .low = low, .high = high, .rounds = values.size()};
}

std::optional<Spread> spread_of(const Measured& measured, Basis basis, Figure figure) {
    std::vector<double> values;
    for (const auto& round : measured.rounds)
        if (const auto value = figure(measured.what, round, basis)) values.push_back(*value);
    return spread_of(values);
}

bool agrees(const Spread& spread) {
    return spread.high <= spread.median * (1 + agreement) && spread.low >= spread.median * (1 - agreement);
}

std::map<unsigned, CpuTime> shares_by_cpu(const Measured& measured) {
    std::map<unsigned, std::vector<CpuTime>> rounds;
    for (const auto& round : measured.rounds)
        for (const auto& [number, time] : round.cpus)
            if (time.busy() + time.idle > 0) rounds[number].push_back(time);
    std::map<unsigned, CpuTime> shares;
    for (const auto& [number, times] : rounds)
        for (const auto part :
             {&CpuTime::user, &CpuTime::system, &CpuTime::softirq, &CpuTime::irq, &CpuTime::idle}) {
            std::vector<double> values;
            for (const auto& time : times)
                values.push_back(time.*part / (time.busy() + time.idle));
            shares[number].*part = median(std::move(values));
        }
    return shares;
}

bool has_irq(const std::map<unsigned, CpuTime>& shares) {
    return std::ranges::any_of(shares, [](const auto& entry) { return entry.second.irq > 0; });
}

} // namespace teamo::bench
