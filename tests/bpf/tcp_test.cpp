// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts of TCP segments that are sent, and sent again, by bucket.
#include "addresses.h"
#include "programs.h"
#include "support/traffic/packet.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

constexpr std::uint8_t ack = 0x10, syn = 0x02;

struct Segment {
    std::uint32_t sequence = 0;
    std::size_t payload = 0;
    std::uint8_t flags = ack;
    std::uint16_t port = 1; ///< of the sender: another connection
    bool ipv6 = false;
    std::uint16_t fragment = 0;
};

Bytes packet(const Segment& segment) {
    auto builder = PacketBuilder(peer, own);
    if (segment.ipv6)
        builder.ipv6({});
    else
        builder.ipv4({});
    auto bytes = builder.tcp(segment.port, 2).payload(segment.payload).bytes();
    const std::size_t tcp = segment.ipv6 ? 54 : 34;
    for (std::size_t i = 0; i < 4; ++i)
        bytes.at(tcp + 4 + i) = static_cast<std::byte>(segment.sequence >> (24 - 8 * i));
    bytes.at(tcp + 12) = std::byte{0x50}; // 20 bytes
    bytes.at(tcp + 13) = static_cast<std::byte>(segment.flags);
    if (segment.fragment != 0) bytes.at(20) = static_cast<std::byte>(segment.fragment >> 8);
    if (bytes.size() < 60) bytes.resize(60); // as a switch pads it
    return bytes;
}

class TcpCounts : public testing::Test {
protected:
    TcpCounts() { programs_.team.hash_fields = TEAMO_HASH_ETH; }
    using Counts = std::pair<std::uint64_t, std::uint64_t>; ///< sent, sent again
    Counts counted(const Segment& segment) {
        const auto before = counts();
        programs_.transmit(packet(segment));
        const auto after = counts();
        return {after.first - before.first, after.second - before.second};
    }
    Counts counts() const {
        Counts sum;
        for (std::uint32_t bucket = 0; bucket < TEAMO_BUCKETS; ++bucket) {
            const auto one = programs_.bucket_counters_of(bucket);
            sum.first += one.tcp_segments;
            sum.second += one.tcp_again;
        }
        return sum;
    }
    const Counts first{1, 0}, again{1, 1}, neither{0, 0};
    Programs programs_;
};

TEST_F(TcpCounts, see_what_is_sent_again) {
    for (const bool ipv6 : {false, true}) {
        EXPECT_EQ(counted({.sequence = 1000, .payload = 500, .ipv6 = ipv6}), first);
        EXPECT_EQ(counted({.sequence = 1500, .payload = 500, .ipv6 = ipv6}), first);
        EXPECT_EQ(counted({.sequence = 1000, .payload = 500, .ipv6 = ipv6}), again);
        EXPECT_EQ(counted({.sequence = 1500, .payload = 500, .ipv6 = ipv6}), again);
        EXPECT_EQ(counted({.sequence = 2000, .payload = 500, .ipv6 = ipv6}), first);
    }
}

TEST_F(TcpCounts, go_round_with_the_sequence_number) {
    EXPECT_EQ(counted({.sequence = 0xffffff00, .payload = 500}), first);
    EXPECT_EQ(counted({.sequence = 0xf4, .payload = 500}), first);
    EXPECT_EQ(counted({.sequence = 0xffffff00, .payload = 500}), again);
}

TEST_F(TcpCounts, keep_connections_apart) {
    EXPECT_EQ(counted({.sequence = 5000, .payload = 500, .port = 1}), first);
    EXPECT_EQ(counted({.sequence = 1000, .payload = 500, .port = 3}), first);
    EXPECT_EQ(counted({.sequence = 5000, .payload = 500, .port = 1}), again);
}

TEST_F(TcpCounts, begin_anew_with_a_connection) {
    EXPECT_EQ(counted({.sequence = 50'000, .payload = 500}), first);
    EXPECT_EQ(counted({.sequence = 10'000, .flags = syn}), neither);
    EXPECT_EQ(counted({.sequence = 10'001, .payload = 500}), first);
    // Without a SYN: far behind what was sent.
    EXPECT_EQ(counted({.sequence = 0x90000000, .payload = 500}), first);
    EXPECT_EQ(counted({.sequence = 0x80000000, .payload = 500}), first);
}

TEST_F(TcpCounts, leave_out_what_has_no_data) {
    EXPECT_EQ(counted({.sequence = 1000, .payload = 500}), first);
    EXPECT_EQ(counted({.sequence = 1500}), neither) << "an acknowledgement, padded to 60 bytes";
    EXPECT_EQ(counted({.sequence = 1500}), neither);
    EXPECT_EQ(counted({.sequence = 1499, .payload = 1}), first) << "a keepalive is not sent again";
    EXPECT_EQ(counted({.sequence = 1000, .payload = 500, .fragment = 0x2000}), neither);
}

TEST_F(TcpCounts, leave_out_truncated_packets) {
    for (const bool ipv6 : {false, true}) {
        const auto whole = packet({.sequence = 1000, .payload = 500, .ipv6 = ipv6});
        const auto before = counts();
        for (std::size_t length = ipv6 ? 55 : 35; length < (ipv6 ? 74U : 54U); ++length)
            programs_.transmit(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
        EXPECT_EQ(counts(), before);
    }
}

} // namespace
} // namespace teamo::test
