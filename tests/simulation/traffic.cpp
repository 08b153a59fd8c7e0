// SPDX-License-Identifier: LGPL-2.1-or-later
#include "traffic.h"

#include "datapath/bpf/flow_hash.h"

#include <cmath>
#include <cstdlib>
#include <numbers>

namespace teamo::simulation {

double uniform(Engine& engine) { return static_cast<double>(engine()) / 4294967296.0; }

double normal(Engine& engine) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(engine)));
    return radius * std::cos(2 * std::numbers::pi * uniform(engine));
}

std::uint8_t random_bucket(Engine& engine) {
    teamo_flow flow{};
    flow.ip_version = 4;
    flow.dst_ip[3] = static_cast<std::uint32_t>(engine());
    flow.src_ip[3] = static_cast<std::uint32_t>(engine());
    flow.protocol = uniform(engine) < 0.8 ? 6 : 17;
    flow.dst_port = static_cast<std::uint32_t>(engine()) & 0xffff;
    flow.src_port = static_cast<std::uint32_t>(engine()) & 0xffff;
    constexpr auto fields = TEAMO_HASH_IPV4 | TEAMO_HASH_TCP | TEAMO_HASH_UDP;
    return static_cast<std::uint8_t>(teamo_flow_bucket(&flow, fields));
}

std::vector<Flow> zipf_flows(Engine& engine, std::size_t count, double exponent, double bytes) {
    std::vector<Flow> flows(count);
    double sum = 0;
    for (std::size_t rank = 0; rank < count; ++rank) {
        flows[rank].bucket = random_bucket(engine);
        sum += flows[rank].bytes = std::pow(static_cast<double>(rank + 1), -exponent);
    }
    for (auto& flow : flows)
        flow.bytes *= bytes / sum;
    return flows;
}

AllBucketCounters Traffic::pass(double seconds) {
    AllBucketCounters left{};
    // The mean of exp(noise * normal) is not 1 but this.
    const double mean = std::exp(unrest_.noise * unrest_.noise / 2);
    for (auto& flow : flows_) {
        if (uniform(*engine_) < unrest_.churn) flow.bucket = random_bucket(*engine_);
        const double noise = unrest_.noise > 0 ? std::exp(unrest_.noise * normal(*engine_)) / mean : 1;
        const double bytes = flow.bytes * seconds * noise;
        auto& bucket = left[flow.bucket];
        bucket.bytes += static_cast<std::uint64_t>(bytes);
        bucket.packets += static_cast<std::uint64_t>(bytes / flow.packet);
        bucket.gso_bytes += static_cast<std::uint64_t>(bytes * flow.gso_share);
    }
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        counters_[bucket].bytes += left[bucket].bytes;
        counters_[bucket].packets += left[bucket].packets;
        counters_[bucket].gso_bytes += left[bucket].gso_bytes;
    }
    return left;
}

std::array<double, bucket_count> Traffic::expected() const {
    std::array<double, bucket_count> bytes{};
    for (const auto& flow : flows_)
        bytes[flow.bucket] += flow.bytes;
    return bytes;
}

std::uint32_t last_seed(std::uint32_t usual) {
    const char* asked = std::getenv("TEAMO_SIMULATION_SEEDS");
    return asked == nullptr ? usual : static_cast<std::uint32_t>(std::strtoul(asked, nullptr, 10));
}

} // namespace teamo::simulation
