// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Properties of the transmit hash: sequential flows share the ports nearly evenly, whatever counts up, and
// random flows as evenly as chance allows. Pure, no kernel.
#include "datapath/bpf/flow_hash.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t seed = 20261120;
constexpr std::uint32_t macs = TEAMO_HASH_ETH;
constexpr std::uint32_t macs_and_ip = TEAMO_HASH_ETH | TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6;
constexpr std::uint32_t everything = macs_and_ip | TEAMO_HASH_VLAN | TEAMO_HASH_TCP | TEAMO_HASH_UDP;

/// Load of the fullest port, 1 being an even share: if ports own ranges of buckets (as lib/balance/buckets.h
/// assigns them), and if they own every n-th bucket.
struct Fullest {
    double by_range = 0, by_remainder = 0;
};

using NthFlow = std::function<teamo_flow(std::uint32_t)>;

Fullest fullest(std::uint32_t ports, std::uint32_t flows, std::uint32_t fields, const NthFlow& nth) {
    std::array<int, 8> range{}, remainder{};
    for (std::uint32_t i = 0; i < flows; i++) {
        const teamo_flow flow = nth(i);
        const std::uint32_t bucket = teamo_flow_bucket(&flow, fields);
        range[bucket * ports / TEAMO_BUCKETS]++;
        remainder[bucket % ports]++;
    }
    const double share = static_cast<double>(flows) / ports;
    return {*std::max_element(range.begin(), range.end()) / share,
            *std::max_element(remainder.begin(), remainder.end()) / share};
}

/// A flow of a random pair of hosts, from which a test counts up.
teamo_flow random_flow(std::mt19937_64& random) {
    const auto word = [&random] { return static_cast<std::uint32_t>(random()); };
    return {.dst_mac = random() & 0xfeff'ffff'ffff,
            .src_mac = random() & 0xfeff'ffff'ffff,
            .vlan = word() & 0xfff,
            .ip_version = 4,
            .dst_ip = {word(), word(), word(), word()},
            .src_ip = {word(), word(), word(), word()},
            .protocol = 6,
            .dst_port = word() & 0xffff,
            .src_port = word() & 0xffff};
}

/// The worst of many networks; `count` turns the first flow into the i-th.
Fullest worst(std::uint32_t ports, std::uint32_t flows, int networks, std::uint32_t fields,
              const std::function<void(teamo_flow&, std::uint32_t)>& count) {
    std::mt19937_64 random(seed);
    Fullest most;
    for (int i = 0; i < networks; i++) {
        const teamo_flow first = random_flow(random);
        const auto here = fullest(ports, flows, fields, [&](std::uint32_t n) {
            teamo_flow flow = first;
            count(flow, n);
            return flow;
        });
        most.by_range = std::max(most.by_range, here.by_range);
        most.by_remainder = std::max(most.by_remainder, here.by_remainder);
    }
    return most;
}

struct Numbering {
    std::string name;
    std::uint32_t fields;
    std::function<void(teamo_flow&, std::uint32_t)> count;
};

const std::vector<Numbering>& numberings() {
    static const std::vector<Numbering> all = {
        {"client MAC +1", macs, [](teamo_flow& flow, std::uint32_t i) { flow.dst_mac += i; }},
        {"client MAC +2", macs, [](teamo_flow& flow, std::uint32_t i) { flow.dst_mac += 2 * i; }},
        {"client MAC +4", macs, [](teamo_flow& flow, std::uint32_t i) { flow.dst_mac += 4 * i; }},
        {"own MAC +1", macs, [](teamo_flow& flow, std::uint32_t i) { flow.src_mac += i; }},
        {"own MAC +4", macs, [](teamo_flow& flow, std::uint32_t i) { flow.src_mac += 4 * i; }},
        {"MAC +1 and IP +1", macs_and_ip,
         [](teamo_flow& flow, std::uint32_t i) { flow.dst_mac += i, flow.dst_ip[3] += i; }},
        {"MAC +2 and IP +1", macs_and_ip,
         [](teamo_flow& flow, std::uint32_t i) { flow.dst_mac += 2 * i, flow.dst_ip[3] += i; }},
        {"MAC +4 and IP +1", macs_and_ip,
         [](teamo_flow& flow, std::uint32_t i) { flow.dst_mac += 4 * i, flow.dst_ip[3] += i; }},
        {"IP +1", macs_and_ip, [](teamo_flow& flow, std::uint32_t i) { flow.dst_ip[3] += i; }},
        {"even addresses", macs_and_ip, [](teamo_flow& flow, std::uint32_t i) { flow.dst_ip[3] += 2 * i; }},
        {"IP +4", macs_and_ip, [](teamo_flow& flow, std::uint32_t i) { flow.dst_ip[3] += 4 * i; }},
        {"10.0.0.i -> 10.0.1.i", macs_and_ip,
         [](teamo_flow& flow, std::uint32_t i) {
             flow.src_ip[3] = 0x0a000001 + i, flow.dst_ip[3] = 0x0a000101 + i;
         }},
        {"10.0.i.1", macs_and_ip, [](teamo_flow& flow, std::uint32_t i) { flow.dst_ip[3] += 256 * i; }},
        {"both MACs +1", macs,
         [](teamo_flow& flow, std::uint32_t i) { flow.dst_mac += i, flow.src_mac += i; }},
        {"VLAN +1", everything, [](teamo_flow& flow, std::uint32_t i) { flow.vlan += i; }},
        {"source port +1", everything, [](teamo_flow& flow, std::uint32_t i) { flow.src_port += i; }},
        {"source port +2", everything, [](teamo_flow& flow, std::uint32_t i) { flow.src_port += 2 * i; }},
        {"both ports +1", everything,
         [](teamo_flow& flow, std::uint32_t i) { flow.src_port += i, flow.dst_port += i; }},
        {"IPv6 interface +1", macs_and_ip,
         [](teamo_flow& flow, std::uint32_t i) { flow.ip_version = 6, flow.dst_ip[3] += i; }},
        {"IPv6 EUI-64 and MAC +1", macs_and_ip,
         [](teamo_flow& flow, std::uint32_t i) {
             flow.ip_version = 6, flow.dst_ip[3] += i, flow.dst_mac += i;
         }},
        {"IPv6 subnet +1", macs_and_ip,
         [](teamo_flow& flow, std::uint32_t i) { flow.ip_version = 6, flow.dst_ip[1] += i; }},
    };
    return all;
}

TEST(FlowHash, spreads_sequential_flows_nearly_evenly) {
    for (const auto& numbering : numberings()) {
        for (const std::uint32_t ports : {2U, 3U, 4U, 8U}) {
            const auto most = worst(ports, 64, 10'000, numbering.fields, numbering.count);
            std::cout << numbering.name << " over " << ports << ": " << most.by_range << " by range, "
                      << most.by_remainder << " by remainder\n";
            EXPECT_LE(most.by_range, ports == 8 ? 1.5 : 1.35) << numbering.name << " over " << ports;
        }
    }
}

/// The addresses of a flow that can count up, and the hash fields that read them.
const std::vector<Numbering>& addresses() {
    static const auto all = [] {
        std::vector<Numbering> made = {
            {"MAC to", macs, [](teamo_flow& flow, std::uint32_t by) { flow.dst_mac += by; }},
            {"MAC from", macs, [](teamo_flow& flow, std::uint32_t by) { flow.src_mac += by; }},
            {"IPv4 to", macs_and_ip, [](teamo_flow& flow, std::uint32_t by) { flow.dst_ip[3] += by; }},
            {"IPv4 from", macs_and_ip, [](teamo_flow& flow, std::uint32_t by) { flow.src_ip[3] += by; }},
            {"MAC and IPv4 to", macs_and_ip,
             [](teamo_flow& flow, std::uint32_t by) { flow.dst_mac += by, flow.dst_ip[3] += by; }},
            {"MAC and IPv4 from", macs_and_ip,
             [](teamo_flow& flow, std::uint32_t by) { flow.src_mac += by, flow.src_ip[3] += by; }}};
        for (std::size_t word = 0; word < 4; word++) {
            made.push_back({fmt::format("IPv6 word {} to", word), macs_and_ip,
                            [word](teamo_flow& flow, std::uint32_t by) {
                                flow.ip_version = 6, flow.dst_ip[word] += by;
                            }});
            made.push_back({fmt::format("IPv6 word {} from", word), macs_and_ip,
                            [word](teamo_flow& flow, std::uint32_t by) {
                                flow.ip_version = 6, flow.src_ip[word] += by;
                            }});
        }
        return made;
    }();
    return all;
}

TEST(FlowHash, spreads_stepped_addresses_from_any_start) {
    constexpr std::array<std::pair<std::uint32_t, double>, 3> at_most{{{2, 1.16}, {4, 1.19}, {8, 1.26}}};
    for (const auto& [name, fields, count] : addresses())
        for (const std::uint32_t step : {1U, 2U, 4U})
            for (const auto& [ports, most] : at_most) {
                const auto by_step = [&count, step](teamo_flow& flow, std::uint32_t i) {
                    count(flow, step * i);
                };
                const auto found = worst(ports, 64, 10'000, fields, by_step).by_range;
                std::cout << name << " +" << step << " over " << ports << ": " << found << '\n';
                EXPECT_LE(found, most) << name << " +" << step << " over " << ports;
            }
}

/// The mean fullest port of many sets of 64 flows.
double mean_fullest(const std::function<std::uint32_t()>& bucket) {
    double sum = 0;
    constexpr int sets = 20'000, flows = 64, ports = 4;
    for (int set = 0; set < sets; set++) {
        std::array<int, ports> load{};
        for (int i = 0; i < flows; i++)
            load[bucket() * ports / TEAMO_BUCKETS]++;
        sum += *std::max_element(load.begin(), load.end());
    }
    return sum / sets;
}

TEST(FlowHash, spreads_random_flows_like_chance) {
    std::mt19937_64 random(seed);
    const double chance = mean_fullest([&] { return static_cast<std::uint32_t>(random() >> 56); });
    for (const std::uint32_t fields : {macs, std::uint32_t{TEAMO_HASH_IPV4}, everything}) {
        const double here = mean_fullest([&] {
            const teamo_flow flow = random_flow(random);
            return teamo_flow_bucket(&flow, fields);
        });
        EXPECT_NEAR(here, chance, chance * 0.01) << "hash fields " << fields;
    }
}

TEST(FlowHash, fills_buckets_uniformly) {
    std::mt19937_64 random(seed);
    std::array<int, TEAMO_BUCKETS> load{};
    constexpr int mean = 1000;
    for (unsigned i = 0; i < mean * TEAMO_BUCKETS; i++) {
        const teamo_flow flow = random_flow(random);
        load[teamo_flow_bucket(&flow, everything)]++;
    }
    double chi_square = 0;
    for (const int count : load)
        chi_square += static_cast<double>(count - mean) * (count - mean) / mean;
    EXPECT_LT(chi_square, 330.5); // 255 degrees of freedom, p = 0.001
    EXPECT_GT(chi_square, 190.9);
}

/// How often a change of one field moves the flow, of 1,000 flows.
int moves(std::uint32_t fields, const std::function<void(teamo_flow&)>& change) {
    std::mt19937_64 random(seed);
    int moved = 0;
    for (int i = 0; i < 1000; i++) {
        teamo_flow flow = random_flow(random);
        const auto before = teamo_flow_bucket(&flow, fields);
        change(flow);
        moved += teamo_flow_bucket(&flow, fields) != before ? 1 : 0;
    }
    return moved;
}

TEST(FlowHash, distinguishes_source_from_destination) {
    EXPECT_GT(moves(macs, [](teamo_flow& flow) { std::swap(flow.dst_mac, flow.src_mac); }), 950);
    EXPECT_GT(moves(TEAMO_HASH_IPV4, [](teamo_flow& flow) { std::swap(flow.dst_ip[3], flow.src_ip[3]); }),
              950);
    EXPECT_GT(moves(TEAMO_HASH_TCP, [](teamo_flow& flow) { std::swap(flow.dst_port, flow.src_port); }), 950);
}

TEST(FlowHash, uses_every_word_of_ipv6_address) {
    for (int word = 0; word < 4; word++) {
        EXPECT_GT(moves(TEAMO_HASH_IPV6, [=](teamo_flow& flow) { flow.ip_version = 6, flow.dst_ip[word]++; }),
                  950);
        EXPECT_GT(moves(TEAMO_HASH_IPV6, [=](teamo_flow& flow) { flow.ip_version = 6, flow.src_ip[word]++; }),
                  950);
    }
}

TEST(FlowHash, ignores_fields_not_configured) {
    EXPECT_EQ(moves(macs_and_ip, [](teamo_flow& flow) { flow.src_port++, flow.vlan++; }), 0);
    EXPECT_EQ(moves(TEAMO_HASH_TCP, [](teamo_flow& flow) { flow.dst_mac++, flow.dst_ip[3]++; }), 0);
    EXPECT_EQ(moves(TEAMO_HASH_IPV6, [](teamo_flow& flow) { flow.dst_ip[3]++; }), 0) << "the flow is IPv4";
    EXPECT_EQ(moves(TEAMO_HASH_IPV4, [](teamo_flow& flow) { flow.dst_ip[2]++; }), 0) << "the flow is IPv4";
}

TEST(FlowHash, uses_ports_of_configured_protocols_only) {
    const auto next_port_of = [](std::uint32_t protocol) {
        return [protocol](teamo_flow& flow) {
            flow.protocol = protocol;
            flow.src_port++;
        };
    };
    // The protocol number itself is not hashed, and before the change the ports are those of TCP.
    EXPECT_GT(moves(TEAMO_HASH_TCP, next_port_of(6)), 900);
    EXPECT_GT(moves(TEAMO_HASH_TCP | TEAMO_HASH_UDP, next_port_of(17)), 900);
    EXPECT_GT(moves(TEAMO_HASH_TCP | TEAMO_HASH_SCTP, next_port_of(132)), 900);
    EXPECT_EQ(teamo_hash_field_of(47), 0U);
    EXPECT_EQ(teamo_hash_field_of(0), 0U);
}

} // namespace
