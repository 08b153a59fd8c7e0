// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which cases a profile has, in which order their rounds run, and what limited a case. Pure.
#pragma once

#include "base/result.h"
#include "bench/results.h"

#include <chrono>
#include <span>

namespace teamo::bench {

/// The longest warm-up of a case.
inline constexpr std::chrono::milliseconds warm_up{500};

struct Options {
    std::string profile = "quick"; ///< "quick", "peers", "binding", "paper"
    unsigned ports = 0;            ///< of --self; 0: not given
    std::vector<std::string> peers{};
    std::uint16_t port = 5201; ///< of the peer's server
    double rate = 1000;        ///< Mbit/s of each cable; 0: not limited
    std::chrono::milliseconds round{1000};
    unsigned rounds = 2;
    std::vector<std::string> datapaths{}; ///< of our team, that the kernel has; the first is the default
    std::string html{};                   ///< a file
    std::string prices{};                 ///< a file
    std::string only{}; ///< parts of the texts of the cases to measure, between "|"; empty: all
};

/// True: the profile measures all of Options::datapaths, not only the first.
bool compares_datapaths(const std::string& profile);

/// The cases, in the order in which they are shown.
std::vector<Case> cases_of(const Options& options);

/// Those of the cases that Options::only names. EINVAL: it names none.
Result<std::vector<Case>> only_chosen(std::vector<Case> cases, const std::string& only);

/// The numbers of ports to measure: 1, 2, 4, … and `most`.
std::vector<unsigned> port_counts(unsigned most);

/// A round of a case. The first of each case is the warm-up.
struct Round {
    std::size_t number; ///< of the case
    bool counts;
    bool operator==(const Round&) const = default;
};
/// A B C A B C: what changes on the machine meanwhile meets all cases.
std::vector<Round> order_of_rounds(std::size_t cases, unsigned rounds);

/// How long a round takes without what is around it.
std::chrono::milliseconds length_of(const Round& round, const Options& options);

/// Steps of a run, and the lengths of their rounds together.
struct Steps {
    std::size_t count = 0;
    std::chrono::milliseconds time{};
};
/// Those that are measured: not of cases that were skipped or have failed.
Steps steps_of(std::span<const Round> rounds, const std::vector<Measured>& cases, const Options& options);

/// What limited a case, by its rounds. `mbits`: of all links that carry, each way; 0: not
/// limited, or unknown.
Limit limit_of(const Measured& measured, double mbits, bool shaped);

/// Bytes of a packet that are not payload: Ethernet; IPv4 and TCP with timestamps.
inline constexpr std::uint32_t ethernet_header = 14, ip_and_tcp_headers = 20 + 32;

/// Payload in Mbit/s that TCP can have on a link of that rate.
double payload_rate(double link_mbits, std::uint32_t mtu);

} // namespace teamo::bench
