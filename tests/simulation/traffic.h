// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Flows that send, in virtual time. The hash of the datapath determines the bucket of each flow.
#pragma once

#include "model/balance.h"

#include <random>
#include <vector>

namespace teamo::simulation {

using Engine = std::mt19937; ///< its numbers are the same everywhere; those of std's distributions are not

/// In [0, 1).
double uniform(Engine& engine);
/// Mean 0, variance 1.
double normal(Engine& engine);

struct Flow {
    std::uint8_t bucket = 0;
    double bytes = 0;     ///< per second, on average
    double packet = 1000; ///< bytes of one
    double gso_share = 0;
};

/// The bucket of a flow over TCP or UDP with random IPv4 addresses and ports.
std::uint8_t random_bucket(Engine& engine);

/// Flows whose rates are as 1, 1/2^s, 1/3^s, ... and together `bytes` per second.
std::vector<Flow> zipf_flows(Engine& engine, std::size_t count, double exponent, double bytes);

/// Variation within an interval.
struct Unrest {
    double noise = 0; ///< standard deviation of the logarithm of a flow's rate, drawn in every interval
    double churn =
        0; ///< the share of flows that end in an interval; as many of the same rates begin elsewhere
};

class Traffic {
public:
    Traffic(Engine& engine, std::vector<Flow> flows, Unrest unrest)
        : engine_(&engine), flows_(std::move(flows)), unrest_(unrest) {}

    /// Simulates one interval. Returns what left by each bucket.
    AllBucketCounters pass(double seconds);
    /// Bytes per second on average, by bucket, as the flows are now.
    std::array<double, bucket_count> expected() const;
    /// All that left by each bucket so far.
    const AllBucketCounters& counters() const { return counters_; }

private:
    Engine* engine_;
    std::vector<Flow> flows_;
    Unrest unrest_;
    AllBucketCounters counters_{};
};

/// Tests run with the seeds from 1 to this: `usual`, or the value of TEAMO_SIMULATION_SEEDS.
std::uint32_t last_seed(std::uint32_t usual);

} // namespace teamo::simulation
