// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether a port does better without TSO: what was measured, and what follows from it; pure.
#pragma once

#include "model/status.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace teamo::ctl {

/// So many with TSO and as many without. Of two samples of the same normal distribution seven of each are
/// taken for different 0.6 times of a hundred, four of each without an outlier left out 0.5 times; of two
/// that are three standard deviations apart 90 and 64 times (simulated, 40,000 pairs).
constexpr std::size_t rounds_of_either = 7;
/// Below that nobody needs to know: HP saw 2 to 11 %.
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

/// What a port sent in between, without headers: a GSO packet has one, and as many as segments where the
/// device counts what is on the wire. 66 bytes: Ethernet, IPv4, TCP with time stamps.
double payload_between(const PortCounters& earlier, const PortCounters& later);

Round round_of(bool tso, double payload, std::chrono::duration<double> time,
               std::chrono::duration<double> busy);

struct Comparison {
    double with = 0, without = 0;         ///< medians of bytes per second
    double cpu_with = 0, cpu_without = 0; ///< medians of CPU time per KiB
    std::size_t rounds = 0;               ///< of either kind
    double gain = 0;                      ///< by how much more is sent without TSO, by the medians
    /// Whether that can be relied on: the best and the worst round of either kind left out (a stall of TCP
    /// lasts into the next round), every round without sent more than every round with it, the medians are
    /// further apart than any two rounds of one kind, and by more than 2 %.
    bool beyond_noise = false;
};
/// None where there are too few rounds of either kind, or nothing was sent.
std::optional<Comparison> compare(const Trial& trial);

} // namespace teamo::ctl
