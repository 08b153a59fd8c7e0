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
    /// By how much more is sent without TSO: if every round without sent more than every round with it, and
    /// the medians are further apart than any two rounds of one kind, and by more than 2 %. Else none.
    std::optional<double> gain;
};
/// None where there are fewer than three rounds of either kind, or nothing was sent.
std::optional<Comparison> compare(const Trial& trial);

} // namespace teamo::ctl
