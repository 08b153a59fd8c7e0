// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a team's load is spread, as a value: what the state document and teamoctl speak of.
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
    pending, ///< waits for a pause
    in_gap,  ///< its traffic paused long enough: nothing was overtaken
    forced,  ///< it did not pause, and the gain was worth it; packets may have been overtaken
    given_up ///< it did not pause, and the gain was not worth it: it stays
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
    double gain = 0;      ///< as BucketMove has it
    MoveReason reason = MoveReason::load;
    MoveEnd end = MoveEnd::pending;
    std::chrono::milliseconds waited{0}, ago{0};
    bool operator==(const MoveStatus&) const = default;
};

struct PortBalance {
    std::string name;
    double bytes = 0, packets = 0, bulk = 0; ///< per second, measured
    double planned = 0;                      ///< bytes per second that the last placement gave it
    double capacity = 0;                     ///< bytes per second; 0 unknown
    bool segments = true;                    ///< TSO is on
    double cpu_load = 0;                     ///< of its interrupt CPUs, 0 to 1
    CpuList interrupt_cpus{};                ///< none: it has no interrupts, or they are not known
    CpuList cpus{};                          ///< that send by it, where the hash is by CPU
    bool operator==(const PortBalance&) const = default;
};

/// Of teams that hash.
struct BalanceStatus {
    BalanceConfig config;
    bool counted = false; ///< the datapath tells what leaves by which bucket
    bool frozen = false;
    HashFields tx_hash = 0;
    std::array<std::string, bucket_count> leaves_by{};         ///< port by bucket; empty: none carries
    std::array<std::vector<std::string>, bucket_count> then{}; ///< who has it next should that port fail
    BucketLoads loads{};
    std::vector<PortBalance> ports;
    std::vector<MoveStatus> moves; ///< those that wait, then the last that ended, latest first
    bool operator==(const BalanceStatus&) const = default;
};

} // namespace teamo
