// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The classic program that the team driver gets, on packets that arrive over a veth pair: the bucket equals
// that of the transmit program and of flow_hash.h. The kernel moves the first tag of such a packet into its
// metadata, so this file tests out-of-band tags; transmit_hash_test.cpp tests tags in the packet's bytes.
#include "datapath/team/hash_program.h"

#include "classic_program.h"
#include "hash_cases.h"
#include "programs.h"
#include "support/traffic/on_cpu.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iostream>

namespace teamo::test {
namespace {

using namespace hash_cases;

/// Long enough to read the bucket from one frame. Bytes behind a complete header do not affect the hash.
Bytes lengthened(Bytes packet) {
    packet.resize(std::max<std::size_t>(packet.size(), 320));
    return packet;
}

Bytes cut(const Bytes& packet, std::size_t length) {
    return {packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(length)};
}

class HashProgram : public testing::Test {
protected:
    void same_bucket(const std::vector<Case>& cases) {
        for (const auto& [what, packet, flow] : cases)
            for (const auto fields : field_sets()) {
                const auto frame = lengthened(packet);
                const auto bucket = teamo_flow_bucket(&flow, fields);
                EXPECT_EQ(on_wire(frame, fields), bucket) << what << ", hash fields " << fields;
                EXPECT_EQ(programs_.bucket_of(frame, fields), bucket) << what << ", hash fields " << fields;
            }
    }

    std::uint32_t on_wire(const Bytes& frame, std::uint32_t fields) {
        return wire_.low_byte(hash_program(fields), frame);
    }

    Programs programs_;
    FilteredWire wire_;
};

TEST_F(HashProgram, hashes_configured_headers) { same_bucket(plain_cases()); }
TEST_F(HashProgram, ignores_ports_of_fragments) { same_bucket(fragment_cases()); }
TEST_F(HashProgram, walks_ipv6_extensions) { same_bucket(extension_cases()); }

TEST_F(HashProgram, reads_out_of_band_vlan_tag) {
    same_bucket(vlan_cases());
    EXPECT_TRUE(wire_.tag_was_beside());
}

TEST_F(HashProgram, reads_out_of_band_and_two_inline_tags) {
    auto flow = v4(tcp, 0);
    flow.vlan = 1 << 24 | 2 << 12 | 3;
    const auto frame = lengthened(start().vlan(1).vlan(2).vlan(3).ipv4(ip()).tcp(1111, 2222).bytes());
    for (const auto fields : field_sets())
        EXPECT_EQ(on_wire(frame, fields), teamo_flow_bucket(&flow, fields)) << fields;
}

/// The driver folds four bytes into one by XOR, so the return value must be one byte.
TEST_F(HashProgram, returns_bucket_in_one_byte) {
    std::vector<bool> met(TEAMO_BUCKETS);
    for (std::uint16_t port = 1; std::ranges::count(met, true) < 40 || !met[0] || !met[255]; port++) {
        ASSERT_LT(port, 5000) << "no port for a bucket at the edge";
        auto flow = v4(tcp);
        flow.src_port = port;
        const auto bucket = teamo_flow_bucket(&flow, everything);
        if (met[bucket] || (std::ranges::count(met, true) >= 40 && bucket != 0 && bucket != 255)) continue;
        met[bucket] = true;
        const auto frame = lengthened(start().ipv4(ip()).tcp(port, 2222).bytes());
        const auto left = wire_.left_by(hash_program(everything), frame);
        if (bucket == 0)
            EXPECT_FALSE(left) << *left << " bytes for bucket 0";
        else
            EXPECT_EQ(left, std::optional<std::size_t>(bucket));
    }
}

TEST_F(HashProgram, returns_zero_without_fields) {
    EXPECT_EQ(on_wire(lengthened(start().vlan(5).ipv4(ip()).tcp(1, 2).bytes()), 0), 0U);
    EXPECT_EQ(wire_.left_by(hash_program(0), lengthened(start().ipv4(ip()).bytes())), std::nullopt);
}

TEST_F(HashProgram, returns_sending_cpu_for_cpu_hash) {
    const auto frame = lengthened(start().ipv4(ip()).tcp(1111, 2222).bytes());
    for (const auto cpu : usable_cpus()) {
        const OnCpu here(cpu);
        for (const auto fields : {std::uint32_t{TEAMO_HASH_CPU}, TEAMO_HASH_CPU | everything}) {
            EXPECT_EQ(on_wire(frame, fields), cpu % TEAMO_BUCKETS);
            EXPECT_EQ(classic_bucket_of(frame, fields), cpu % TEAMO_BUCKETS);
        }
    }
}

/// Cut at every length and compared with the transmit program. BPF_PROG_TEST_RUN accepts a packet too short
/// for IP only behind a tag, and a veth pair a tag only with two bytes behind it. A second tag is cut as
/// well.
TEST_F(HashProgram, hashes_truncated_packet_like_transmit_program) {
    using B = PacketBuilder;
    const std::vector<Bytes> packets = {
        start().vlan(7).vlan(8).ipv4(ip(0, 3)).tcp(1111, 2222).bytes(),
        start().vlan(7).ipv4(ip()).udp(1111, 2222).bytes(),
        start().vlan(7).ipv6(ip6()).sctp(1111, 2222).bytes(),
        start().vlan(7).ipv6(ip6()).extension(B::hop_by_hop, 1).extension(B::routing).tcp(1111, 2222).bytes(),
    };
    for (const auto& packet : packets)
        for (std::size_t length = 20; length <= packet.size(); length++) {
            const auto frame = cut(packet, length);
            ASSERT_EQ(on_wire(frame, everything), programs_.bucket_of(frame, everything)) << length;
        }
}

TEST_F(HashProgram, hashes_bare_ethernet_header) {
    const auto flow = macs();
    const auto frame = cut(start().ipv4(ip()).bytes(), 14);
    EXPECT_EQ(on_wire(frame, everything), teamo_flow_bucket(&flow, everything));
}

/// Complete packets; one of four is also cut at a random place.
TEST_F(HashProgram, matches_other_implementations_on_random_packets) {
    const auto seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    for (int i = 0; i < 2000; i++) {
        const auto [what, packet, flow] = random_case(random);
        const auto fields = static_cast<std::uint32_t>(random()) & everything;
        const auto bucket = teamo_flow_bucket(&flow, fields);
        const auto text = fmt::format("packet {} of seed {}, hash fields {}", i, seed, fields);
        ASSERT_EQ(programs_.bucket_of(packet, fields), bucket) << text;
        ASSERT_EQ(classic_bucket_of(lengthened(packet), fields), bucket) << text;
        ASSERT_EQ(on_wire(lengthened(packet), fields), bucket) << text;
        constexpr std::size_t enough_for_both = 62; // for BPF_PROG_TEST_RUN with any header
        if (i % 4 != 0 || packet.size() <= enough_for_both) continue;
        const auto part = cut(packet, enough_for_both + random() % (packet.size() - enough_for_both));
        const auto of_part = programs_.bucket_of(part, fields);
        ASSERT_EQ(classic_bucket_of(part, fields), of_part) << text << ", " << part.size() << " bytes";
    }
}

} // namespace
} // namespace teamo::test
