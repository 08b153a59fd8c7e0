// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a benchmark measured, as values. Metrics, tables and the report are made from these alone.
#pragma once

#include "base/named.h"
#include "kernel/cpus/cpus.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo::bench {

enum class Way : std::uint8_t { transmit, receive, both }; ///< seen from the measured host
inline constexpr std::array all_ways{Way::transmit, Way::receive, Way::both};
enum class Load : std::uint8_t { stream, file, request, http }; ///< file: 6 MB by sendfile()
enum class Carrier : std::uint8_t { team, ports, bond, teamd }; ///< ports: the same without a team

/// Whose CPUs are whose. The last three compare: the packets arrive at one of two CPUs of the host.
enum class Binding : std::uint8_t {
    none,    ///< each end has half of the CPUs for all it does
    unbound, ///< workers run where the kernel's scheduler puts them
    follow,  ///< workers run where the packets arrive
    cross    ///< workers run on the other CPU
};

/// What is measured. Cases that differ in one member are compared.
struct Case {
    Carrier over = Carrier::team;
    std::string datapath{}; ///< of our team: "bpf", "team", "bond"; else empty
    unsigned ports = 1;
    Way way = Way::transmit;
    Load load = Load::stream;
    bool tso = true;
    Binding binding = Binding::none;
    unsigned clients = 1;                  ///< connections for each port
    std::uint32_t message = 32'768;        ///< bytes of each send(); of streams alone, else 0
    std::uint32_t socket_buffer = 131'072; ///< bytes; the same
    std::uint32_t gso_max = 65'536;        ///< gso_max_size of the ports, bytes
    std::uint32_t mtu = 1500;
    bool operator==(const Case&) const = default;
};

/// The same with another load.
inline Case with_load(Case what, Load load) {
    what.load = load;
    if (load != Load::stream) what.message = what.socket_buffer = 0;
    return what;
}

/// By a port in a round. A GSO packet is one skb and many wire packets. No skbs in either direction: they
/// were not counted.
struct PortTraffic {
    std::uint64_t tx_bytes = 0, tx_skbs = 0, tx_packets = 0;
    std::uint64_t rx_bytes = 0, rx_skbs = 0, rx_packets = 0;
    bool operator==(const PortTraffic&) const = default;
};

/// One round of a case.
struct Sample {
    double seconds = 0;
    double sent = 0, received = 0;            ///< payload bytes of the measured host
    std::map<unsigned, CpuTime> cpus{};       ///< of the whole machine
    std::optional<CpuTime> host{}, far{};     ///< of the two ends, where they have CPUs of their own
    double host_threads = 0, far_threads = 0; ///< CPU seconds of the load generators' own threads
    /// CPU seconds of the team's daemons; none: there is none, or results of an earlier version.
    std::optional<double> host_daemon{}, far_daemon{};
    std::map<std::string, PortTraffic> ports{};
    std::uint64_t operations = 0;       ///< requests answered, files sent
    std::map<double, double> latency{}; ///< percentile (50, 90, 99, 99.9) to microseconds
    std::optional<double> joules{};     ///< of the machine; none: it has no meter
    /// machine_speed() just before and after, the mean; none: results of an earlier version.
    std::optional<double> speed{};
    bool operator==(const Sample&) const = default;
};

enum class Limit : std::uint8_t { unknown, cpu, shaper, link };

struct Measured {
    Case what{};
    std::vector<Sample> rounds{}; ///< without the warm-up
    Limit limit = Limit::unknown;
    std::string skipped{}; ///< why it cannot be measured here; empty: it can
    std::string failed{};  ///< the error that ended it before its last round; empty: none
    bool operator==(const Measured&) const = default;
};

/// Where it was measured.
struct Machine {
    std::string kernel{}, cpu{}, driver{}; ///< of the ports
    unsigned cpus = 0;
    std::string version{}, date{}; ///< of this program, with its commit; ISO 8601
    std::map<std::string, std::string> sysctls{};
    std::string nftables{};        ///< nftables_text(), or that the kernel has no nftables
    double link_mbits = 0;         ///< of each port
    std::string shaped_by{};       ///< "tbf", or empty
    double other_work = 0;         ///< part of the CPUs that was busy before the first round, 0 to 1
    bool meter_needs_root = false; ///< it has a meter of energy, which the user could not read
    bool operator==(const Machine&) const = default;
};

struct Results {
    Machine machine{};
    std::string profile{}; ///< "quick", "peers", "binding", "paper"
    std::vector<Measured> cases{};
    bool operator==(const Results&) const = default;
};

} // namespace teamo::bench

namespace teamo {

// The words of JSON, options and progress.
template <>
inline constexpr std::array<std::string_view, 3> enum_names<bench::Way>{"transmit", "receive", "both"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Load>{"stream", "file", "request", "http"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Binding>{"none", "unbound", "follow",
                                                                            "cross"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Carrier>{"team", "ports", "bond", "teamd"};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<bench::Limit>{"unknown", "cpu", "shaper", "link"};

} // namespace teamo
