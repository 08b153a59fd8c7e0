// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What TSO gains: from rounds of measurement with it and without it, in turn; pure.
#pragma once

#include "kernel/cpus/cpus.h"
#include "model/status.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo::ctl {

/// Measured for a second or two.
struct Round {
    double bytes = 0;       ///< per second
    double cpu_per_kib = 0; ///< microseconds of busy CPU time per KiB
    bool operator==(const Round&) const = default;
};

/// `bytes` were moved between the two readings.
Round round_of(double bytes, const CpuReading& earlier, const CpuReading& later);

/// Two rounds, one after the other: the load changes less between them than over the whole measurement.
struct RoundPair {
    Round with, without;
};

/// By simulation (40,000 pairs of normal samples): seven pairs report a difference in 0.6 % of cases with
/// equal means, and in 90 % with means three standard deviations apart. Four pairs without outlier removal:
/// 0.5 % and 64 %.
constexpr std::size_t trial_pairs = 7;
/// A smaller gain is not reported. HP measured 2 to 11 %.
constexpr double min_gain = 0.02;

struct Trial {
    std::string port;
    std::vector<RoundPair> pairs{}; ///< with TSO and without; bytes are those sent, without headers
};

/// Bytes that a port sent in between, without headers of 66 bytes (Ethernet, IPv4, TCP with time stamps). A
/// GSO packet counts as one packet, or as its segments if the device counts packets on the wire.
double payload_between(const PortCounters& earlier, const PortCounters& later);

struct Comparison {
    Round with, without; ///< medians
    double gain = 0;     ///< how much more is sent without TSO, by the medians: 0.02 is 2 %
    /// Whether the gain is reliable. After dropping the best and the worst round of each kind (a stall of TCP
    /// lasts into the next round), every round without TSO sent more than every round with it, and the
    /// medians differ by more than any two rounds of the same kind and by more than 2 %.
    bool beyond_noise = false;
};
/// None if there are too few rounds, or nothing was sent.
std::optional<Comparison> compare(const Trial& trial);

} // namespace teamo::ctl
