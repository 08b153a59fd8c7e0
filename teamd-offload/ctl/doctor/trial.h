// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether a port sends more without TSO: the measurement and its evaluation; pure.
#pragma once

#include "model/status.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace teamo::ctl {

/// Rounds with TSO, and as many without. By simulation (40,000 pairs of normal samples): seven rounds report
/// a difference in 0.6 % of cases with equal means, and in 90 % with means three standard deviations apart.
/// Four rounds without outlier removal: 0.5 % and 64 %.
constexpr std::size_t rounds_per_mode = 7;
/// A smaller gain is not reported. HP measured 2 to 11 %.
constexpr double min_gain = 0.02;

/// About a second of sending, with TSO or without.
struct Round {
    bool tso = false;
    double bytes = 0;       ///< per second, without headers
    double cpu_per_kib = 0; ///< microseconds of busy CPU time per KiB sent
    bool operator==(const Round&) const = default;
};

struct Trial {
    std::string port;
    std::vector<Round> rounds; ///< alternating
    bool operator==(const Trial&) const = default;
};

/// Bytes that a port sent in between, without headers of 66 bytes (Ethernet, IPv4, TCP with time stamps). A
/// GSO packet counts as one packet, or as its segments if the device counts packets on the wire.
double payload_between(const PortCounters& earlier, const PortCounters& later);

Round round_of(bool tso, double payload, std::chrono::duration<double> time,
               std::chrono::duration<double> busy);

struct Comparison {
    double with = 0, without = 0;         ///< medians of bytes per second
    double cpu_with = 0, cpu_without = 0; ///< medians of CPU time per KiB
    std::size_t rounds = 0;               ///< of each kind
    double gain = 0;                      ///< how much more is sent without TSO, by the medians: 0.02 is 2 %
    /// Whether the gain is reliable. After dropping the best and the worst round of each kind (a stall of TCP
    /// lasts into the next round), every round without TSO sent more than every round with it, and the
    /// medians differ by more than any two rounds of the same kind and by more than 2 %.
    bool beyond_noise = false;
};
/// None if a kind has too few rounds, or nothing was sent.
std::optional<Comparison> compare(const Trial& trial);

} // namespace teamo::ctl
