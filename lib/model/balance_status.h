// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The balancing state of a team, for the state document and teamoctl.
#pragma once

#include "base/cpu_list.h"
#include "model/balance.h"
#include "model/config.h"

#include <chrono>
#include <string>
#include <vector>

namespace teamo {

/// How a move ended.
enum class MoveEnd : std::uint8_t {
    pending, ///< waits for a gap
    in_gap,  ///< moved in a gap, without reordering
    forced,  ///< moved without a gap, as the gain was large enough; packets may have been reordered
    given_up ///< not moved: there was no gap and the gain was too small
};
constexpr std::string_view name_of(MoveEnd end) {
    switch (end) {
    case MoveEnd::pending: return "pending";
    case MoveEnd::in_gap: return "in a gap";
    case MoveEnd::forced: return "forced";
    case MoveEnd::given_up: return "given up";
    }
    return "?";
}

struct MoveStatus {
    std::uint8_t bucket = 0;
    std::string from, to; ///< ports by name
    double gain = 0;      ///< see BucketMove
    MoveReason reason = MoveReason::load;
    MoveEnd end = MoveEnd::pending;
    std::chrono::milliseconds waited{0}, ago{0};
    bool operator==(const MoveStatus&) const = default;
};

struct PortBalance {
    std::string name;
    double bytes = 0, packets = 0, bulk = 0; ///< per second, smoothed: what moves are decided by
    double rate = -1;                        ///< bytes per second sent in the last second; -1: not known yet
    double planned = 0;                      ///< bytes per second by the last placement
    double capacity = 0;                     ///< bytes per second; 0: unknown
    bool segments = true;                    ///< TSO is on
    double cpu_load = 0;                     ///< of its interrupt CPUs, 0 to 1
    CpuList interrupt_cpus{};                ///< empty: it has no interrupts, or they are not known
    CpuList cpus{};                          ///< with hash "cpu": the CPUs that send through it
    bool operator==(const PortBalance&) const = default;
};

/// For teams that hash.
struct BalanceStatus {
    BalanceConfig config;
    bool counted = false; ///< the datapath counts traffic by bucket
    bool frozen = false;
    HashFields tx_hash = 0;
    std::array<std::string, bucket_count> leaves_by{};         ///< port by bucket; empty: no port carries
    std::array<std::vector<std::string>, bucket_count> then{}; ///< the next ports if that port fails
    BucketLoads loads{};
    std::vector<PortBalance> ports{};
    std::vector<MoveStatus> moves{}; ///< pending moves, then the last finished ones, latest first
    bool operator==(const BalanceStatus&) const = default;
};

} // namespace teamo
