// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/metrics.h"

#include "text/numbers.h"

#include <algorithm>
#include <array>
#include <functional>

namespace teamo::bench {
namespace {

using Maybe = std::optional<double>;

constexpr double mega = 1e6, giga = 1e9;
constexpr auto none = std::nullopt;

Maybe ratio(double part, double whole) { return whole > 0 ? Maybe(part / whole) : none; }
Maybe ratio_of(Maybe part, double factor, double whole) { return part ? ratio(*part * factor, whole) : none; }

/// What the figures are made of.
struct Input {
    const Case& what;
    const Sample& sample;
    Basis basis;

    std::optional<CpuTime> time() const {
        if (basis == Basis::host && sample.host) return sample.host;
        if (sample.cpus.empty()) return none;
        CpuTime sum;
        for (const auto& [number, time] : sample.cpus)
            sum += time;
        return sum;
    }
    Maybe busy() const { return time() ? Maybe(time()->busy()) : none; }

    /// Payload of the ways that the case measures: what flows back in a one-way case are acknowledgements.
    double payload() const {
        return (what.way == Way::receive ? 0 : sample.sent) +
               (what.way == Way::transmit ? 0 : sample.received);
    }
    /// None for threads that were not measured.
    Maybe demand(Maybe seconds) const {
        return seconds && *seconds > 0 ? teamo::service_demand(*seconds, payload()) : none;
    }

    PortTraffic ports() const {
        PortTraffic sum;
        for (const auto& [name, port] : sample.ports)
            for (const auto count : {&PortTraffic::tx_bytes, &PortTraffic::tx_skbs, &PortTraffic::tx_packets,
                                     &PortTraffic::rx_bytes, &PortTraffic::rx_skbs, &PortTraffic::rx_packets})
                sum.*count += port.*count;
        return sum;
    }
    /// None: they were not counted.
    Maybe skbs() const {
        const auto sum = ports();
        const auto all = static_cast<double>(sum.tx_skbs + sum.rx_skbs);
        return all > 0 ? Maybe(all) : none;
    }
    Maybe by_port(std::uint64_t PortTraffic::* count) const {
        return ratio(static_cast<double>(ports().*count),
                     sample.seconds * static_cast<double>(sample.ports.size()));
    }
    Maybe mean(std::uint64_t PortTraffic::* bytes, std::uint64_t PortTraffic::* skbs) const {
        return ratio(static_cast<double>(ports().*bytes), static_cast<double>(ports().*skbs));
    }
    Maybe percentile(double of) const {
        const auto found = sample.latency.find(of);
        return found == sample.latency.end() ? none : Maybe(found->second);
    }
};

double interrupts_of(const CpuTime& time) { return time.softirq + time.irq; }

/// In per cent of the CPUs counted.
template <auto part>
Maybe cpu_share(const Input& round) {
    const auto spent = round.time();
    return spent ? ratio(100 * std::invoke(part, *spent), spent->busy() + spent->idle) : none;
}

/// In per cent of a CPU.
template <std::optional<double> Sample::* seconds>
Maybe cpu_of(const Input& round) {
    return ratio_of(round.sample.*seconds, 100, round.sample.seconds);
}

// In the order of Figure.
struct MetricRow : Metric {
    Maybe (*value)(const Input&);
};

constexpr auto table = std::to_array<MetricRow>({
    {{throughput, "throughput", "throughput", "Mbit/s", 0, "APA",
      "Payload of the measured host by elapsed time; both ways: the sum of the two."},
     [](const Input& round) -> Maybe {
         return round.payload() == 0 ? none
                                     : ratio(round.payload() / bytes_per_megabit, round.sample.seconds);
     }},
    {{cpu, "cpu", "CPU", "%", 0, "APA",
      "Busy time (user, system, softirq and irq) of the CPUs that are counted, by their whole time."},
     cpu_share<&CpuTime::busy>},
    {{cpu_user, "cpu_user", "CPU, user", "%", 1, "FEP",
      "The part of the CPU that programs use themselves: the application CPU."},
     cpu_share<&CpuTime::user>},
    {{cpu_system, "cpu_system", "CPU, system", "%", 1, "FEP",
      "The part that the kernel uses for calls of programs; under a load generator that is the network."},
     cpu_share<&CpuTime::system>},
    {{cpu_softirq, "cpu_softirq", "CPU, softirq", "%", 1, "FEP",
      "The part for interrupts and the packets that they announce (softirq and irq)."},
     cpu_share<interrupts_of>},
    {{process_cpu, "process_cpu", "CPU of the load generator", "% of a CPU", 0, "",
      "CPU time of the threads that send and receive on the measured host, by elapsed time."},
     [](const Input& round) -> Maybe {
         return round.sample.host_threads > 0 ? ratio(100 * round.sample.host_threads, round.sample.seconds)
                                              : none;
     }},
    {{daemon_cpu, "daemon_cpu", "CPU of the team's daemon", "% of a CPU", 2, "",
      "CPU time of the team's daemon, ours or teamd, on the measured host, by elapsed time."},
     cpu_of<&Sample::host_daemon>},
    {{far_daemon_cpu, "far_daemon_cpu", "CPU of the far team's daemon", "% of a CPU", 2, "",
      "The same for the other end, where it has a team."},
     cpu_of<&Sample::far_daemon>},
    {{service_demand, "service_demand", "service demand", "µs/KiB", 3, "APA, HP TSO",
      "CPU time of the measured host for each KiB of payload, as netperf defines it."},
     [](const Input& round) -> Maybe { return round.demand(round.busy()); }},
    {{far_service_demand, "far_service_demand", "service demand of the far end", "µs/KiB", 3, "APA, HP TSO",
      "The same for the other end, if it has CPUs of its own."},
     [](const Input& round) -> Maybe {
         return round.demand(round.sample.far ? std::optional(round.sample.far->busy()) : none);
     }},
    {{process_demand, "process_demand", "service demand of the load generator", "µs/KiB", 3, "",
      "CPU time of the threads on the measured host alone for each KiB: tells the ends apart on one machine, "
      "but lacks packets handled by other threads."},
     [](const Input& round) -> Maybe { return round.demand(round.sample.host_threads); }},
    {{far_process_demand, "far_process_demand", "service demand of the far load generator", "µs/KiB", 3, "",
      "The same for the threads of the other end."},
     [](const Input& round) -> Maybe { return round.demand(round.sample.far_threads); }},
    {{pe_index, "pe_index", "PE index", "Mbit/s per % of a CPU", 1, "TOE",
      "Performance efficiency: throughput by CPU utilisation, 100 % being one CPU."},
     [](const Input& round) -> Maybe {
         const auto sent = round.payload();
         return round.busy() && sent > 0 ? ratio(sent / bytes_per_megabit, 100 * *round.busy()) : none;
     }},
    {{tx_packets, "tx_packets", "packets sent", "1/s per port", 0, "HP TSO",
      "Packets on the wire that the measured host sends, for each port."},
     [](const Input& round) -> Maybe { return round.by_port(&PortTraffic::tx_packets); }},
    {{rx_packets, "rx_packets", "packets received", "1/s per port", 0, "HP TSO",
      "Packets on the wire that the measured host receives, for each port."},
     [](const Input& round) -> Maybe { return round.by_port(&PortTraffic::rx_packets); }},
    {{tx_skbs, "tx_skbs", "skbs sent", "1/s per port", 0, "HP TSO",
      "Packets that the kernel gives to a port; with TSO one of them is many on the wire."},
     [](const Input& round) -> Maybe { return round.skbs() ? round.by_port(&PortTraffic::tx_skbs) : none; }},
    {{rx_skbs, "rx_skbs", "skbs received", "1/s per port", 0, "HP TSO",
      "Packets that the kernel gets from a port; with GRO or LRO one of them was many on the wire."},
     [](const Input& round) -> Maybe { return round.skbs() ? round.by_port(&PortTraffic::rx_skbs) : none; }},
    {{tx_skb_bytes, "tx_skb_bytes", "bytes per skb sent", "bytes", 0, "HP TSO",
      "Mean length of a packet that the kernel gives to a port: above the MTU TSO works."},
     [](const Input& round) -> Maybe { return round.mean(&PortTraffic::tx_bytes, &PortTraffic::tx_skbs); }},
    {{rx_skb_bytes, "rx_skb_bytes", "bytes per skb received", "bytes", 0, "HP TSO",
      "Mean length of a packet that the kernel gets from a port: above the MTU GRO or LRO works."},
     [](const Input& round) -> Maybe { return round.mean(&PortTraffic::rx_bytes, &PortTraffic::rx_skbs); }},
    {{fullest_port, "fullest_port", "fullest port", "times", 2, "",
      "Bytes of the port with the most traffic, by the mean of all ports: 1 is even."},
     [](const Input& round) -> Maybe {
         std::uint64_t fullest = 0;
         for (const auto& [name, port] : round.sample.ports)
             fullest = std::max(fullest, port.tx_bytes + port.rx_bytes);
         const auto sum = round.ports();
         return ratio(static_cast<double>(fullest) * static_cast<double>(round.sample.ports.size()),
                      static_cast<double>(sum.tx_bytes + sum.rx_bytes));
     }},
    {{packet_saving, "packet_saving", "packets on the wire for each that the host handles", "times", 1,
      "HP TSO", "Packets on the wire by skbs, both directions; HP counts (40+20)/(1+20) = 3 times fewer."},
     [](const Input& round) -> Maybe {
         const auto sum = round.ports();
         return ratio(static_cast<double>(sum.tx_packets + sum.rx_packets), round.skbs().value_or(0));
     }},
    {{io_by_size, "io_by_size", "i/o's by size", "1/s", 0, "FEP",
      "KiB of payload times two: the paper's estimate of the i/o's."},
     [](const Input& round) -> Maybe {
         const auto sent = round.payload();
         return sent > 0 ? ratio(sent / bytes_per_kibibyte * 2, round.sample.seconds) : none;
     }},
    {{io_measured, "io_measured", "i/o's measured", "1/s", 0, "FEP",
      "skbs that pass between the kernel and all ports, both directions."},
     [](const Input& round) -> Maybe { return ratio_of(round.skbs(), 1, round.sample.seconds); }},
    {{io_time, "io_time", "time per i/o", "µs", 2, "FEP", "CPU time for each i/o measured."},
     [](const Input& round) -> Maybe { return ratio_of(round.busy(), mega, round.skbs().value_or(0)); }},
    {{file_time, "file_time", "elapsed time of a file", "ms", 1, "FEP",
      "Time in which one connection transfers one file of 6 MB."},
     [](const Input& round) -> Maybe {
         const auto& [what, sample, basis] = round;
         if (what.load != Load::file) return none;
         // Each connection transfers one file after the other; both ways have connections of their own.
         const unsigned ways = what.way == Way::both ? 2 : 1;
         return ratio(1000 * sample.seconds * what.ports * what.clients * ways,
                      static_cast<double>(sample.operations));
     }},
    {{gigabyte_time, "gigabyte_time", "elapsed time of 1 GB", "s", 2, "FEP",
      "Time in which all connections together transfer 10^9 bytes."},
     [](const Input& round) -> Maybe { return ratio(round.sample.seconds * giga, round.payload()); }},
    {{operations, "operations", "operations", "1/s", 0, "", "Requests answered, or files transferred."},
     [](const Input& round) -> Maybe {
         if (round.what.load == Load::stream) return none;
         return ratio(static_cast<double>(round.sample.operations), round.sample.seconds);
     }},
    {{latency_50, "latency_50", "latency, median", "µs", 0, "",
      "Half of the requests are answered within this time."},
     [](const Input& round) -> Maybe { return round.percentile(50); }},
    {{latency_90, "latency_90", "latency, 90 %", "µs", 0, "",
      "90 % of the requests are answered within this time."},
     [](const Input& round) -> Maybe { return round.percentile(90); }},
    {{latency_99, "latency_99", "latency, 99 %", "µs", 0, "",
      "99 % of the requests are answered within this time."},
     [](const Input& round) -> Maybe { return round.percentile(99); }},
    {{latency_99_9, "latency_99_9", "latency, 99.9 %", "µs", 0, "",
      "99.9 % of the requests are answered within this time."},
     [](const Input& round) -> Maybe { return round.percentile(99.9); }},
    {{joules_per_gb, "joules_per_gb", "energy", "J/GB", 1, "TOE",
      "Energy of the processors by their own meter (RAPL) for each 10^9 bytes of payload; not known without "
      "one."},
     [](const Input& round) -> Maybe { return ratio_of(round.sample.joules, 1, round.payload() / giga); }},
    {{own_speed, "machine_speed", "speed of the machine", "1/ms", 0, "",
      "Blocks of 64 KiB that the CPUs together copy and add up in a millisecond, just before and after a "
      "round: what a virtual machine has of its host."},
     [](const Input& round) -> Maybe { return round.sample.speed; }},
});

constexpr auto all_metrics = [] {
    std::array<Metric, table.size()> all{};
    std::ranges::copy(table, all.begin());
    return all;
}();
static_assert(std::ranges::all_of(table, [](const MetricRow& row) {
    return &row - table.data() == static_cast<std::ptrdiff_t>(row.figure);
}));

bool is_of_host(const Measured& measured) {
    return std::ranges::all_of(measured.rounds, [](const Sample& round) { return round.host.has_value(); });
}

} // namespace

std::span<const Metric> metrics() { return all_metrics; }

const Metric& metric_of(Figure figure) { return all_metrics.at(static_cast<std::size_t>(figure)); }

std::optional<double> value_of(Figure figure, const Case& what, const Sample& round, Basis basis) {
    return table.at(static_cast<std::size_t>(figure)).value({what, round, basis});
}

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

std::optional<Spread> spread_of(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    const auto [low, high] = std::ranges::minmax(values);
    return Spread{.median = median(values), .low = low, .high = high, .rounds = values.size()};
}

std::optional<Spread> spread_of(const Measured& measured, Basis basis, Figure figure) {
    std::vector<double> values;
    for (const auto& round : measured.rounds)
        if (const auto value = value_of(figure, measured.what, round, basis)) values.push_back(*value);
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
