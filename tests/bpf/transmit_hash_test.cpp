// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The bucket of a packet by the transmit program and by the team driver's classic program equals that of
// flow_hash.h, so what teamoctl reports for a flow holds for both datapaths.
#include "classic_program.h"
#include "hash_cases.h"
#include "programs.h"
#include "vlan_tag.skel.h"

#include <bpf/bpf.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace teamo::test {
namespace {

using namespace hash_cases;

class TransmitHash : public testing::Test {
protected:
    void same_bucket(const std::vector<Case>& cases) {
        for (const auto& [what, packet, flow] : cases)
            for (const auto fields : field_sets())
                EXPECT_EQ(bucket_of(packet, fields), teamo_flow_bucket(&flow, fields))
                    << what << ", hash fields " << fields;
    }

    /// By the BPF program; checks that the classic program of the team driver gives the same.
    std::uint32_t bucket_of(const Bytes& packet, std::uint32_t fields) {
        const auto bucket = programs_.bucket_of(packet, fields);
        EXPECT_EQ(classic_bucket_of(packet, fields), bucket)
            << "classic program of hash fields " << fields << ", " << packet.size() << " bytes";
        return bucket;
    }

    Programs programs_;
};

TEST_F(TransmitHash, hashes_configured_headers) { same_bucket(plain_cases()); }
TEST_F(TransmitHash, ignores_ports_of_fragments) { same_bucket(fragment_cases()); }
TEST_F(TransmitHash, walks_ipv6_extensions) { same_bucket(extension_cases()); }
TEST_F(TransmitHash, reads_inline_vlan_tags) { same_bucket(vlan_cases()); }

TEST_F(TransmitHash, reads_at_most_two_inline_tags) {
    auto flow = macs();
    flow.vlan = 1 << 12 | 2;
    same_bucket({{"three tags", start().vlan(1).vlan(2).vlan(3).ipv4(ip()).bytes(), flow}});
}

TEST_F(TransmitHash, ignores_ports_if_ip_header_length_is_invalid) {
    auto packet = start().ipv4(ip()).tcp(1111, 2222).bytes();
    packet.at(14) = std::byte{0x44};
    const auto flow = v4();
    EXPECT_EQ(bucket_of(packet, everything), teamo_flow_bucket(&flow, everything));
}

TEST_F(TransmitHash, uses_both_ports_of_ipv6) {
    int moved = 0;
    for (std::uint16_t port = 1; port <= 32; port++) {
        const auto one = bucket_of(start().ipv6(ip6()).tcp(port, 443).bytes(), everything);
        const auto next =
            bucket_of(start().ipv6(ip6()).tcp(static_cast<std::uint16_t>(port + 1), 443).bytes(), everything);
        moved += one != next ? 1 : 0;
    }
    EXPECT_EQ(moved, 32) << "teamd hashes the destination port only";
}

TEST_F(TransmitHash, hashes_out_of_band_tag_like_inline_tag) {
    const std::unique_ptr<vlan_tag, void (*)(vlan_tag*)> tagger(vlan_tag::open_and_load(), vlan_tag::destroy);
    ASSERT_TRUE(tagger);
    const std::uint32_t first = 0;
    const int under_test = programs_.transmit_program();
    ASSERT_EQ(bpf_map__update_elem(tagger->maps.under_test, &first, sizeof first, &under_test,
                                   sizeof under_test, 0),
              0);
    const int program = bpf_program__fd(tagger->progs.tag_and_go_on);

    const auto inside = [](PacketBuilder packet) { return packet.ipv4(ip()).tcp(1111, 2222).bytes(); };
    for (const auto fields : {std::uint32_t{TEAMO_HASH_VLAN}, everything}) {
        const auto beside = [&](const Bytes& packet, std::uint32_t mark) {
            return programs_.bucket_by([&] { return programs_.run(program, packet, 0, mark, 1); }, fields);
        };
        EXPECT_EQ(beside(inside(start()), 0xe000 | 5), bucket_of(inside(start().vlan(5)), fields));
        EXPECT_EQ(beside(inside(start().vlan(5)), 0x80000009),
                  bucket_of(inside(start().vlan(9, PacketBuilder::dot1ad).vlan(5)), fields));
    }
}

TEST_F(TransmitHash, survives_truncated_packets) {
    // The tag, because BPF_PROG_TEST_RUN rejects a bare Ethernet header and a packet too short for IP.
    const auto tagged = [] { return start().vlan(1); };
    std::vector<Bytes> packets = {
        tagged().vlan(2).ipv4(ip(0, 10)).tcp(1, 2).bytes(), tagged().ipv4(ip()).udp(1, 2).bytes(),
        tagged().ipv6(ip6()).extension(PacketBuilder::hop_by_hop, 1).udp(1, 2).bytes(),
        tagged().ipv6(ip6()).extension(PacketBuilder::destination).extension(PacketBuilder::routing).bytes()};
    programs_.team.hash_fields = everything;
    for (auto& packet : packets) {
        packet.resize(std::max<std::size_t>(packet.size(), 80));
        for (std::ptrdiff_t length = 15; length <= 80; length++) {
            const auto verdict = programs_.transmit(Bytes(packet.begin(), packet.begin() + length));
            EXPECT_EQ(verdict.action, redirected) << length;
        }
    }
}

TEST_F(TransmitHash, hashes_available_headers_of_truncated_packet) {
    const auto whole = start().vlan(7).ipv4(ip()).tcp(1111, 2222).bytes();
    const auto only_vlan = [] {
        auto flow = macs();
        flow.vlan = 7;
        return flow;
    }();
    const auto no_ports = v4(0, 7), all = v4(tcp, 7);
    for (std::ptrdiff_t length = 18; length <= 42; length++) {
        const auto& flow = length < 38 ? only_vlan : length < 42 ? no_ports : all;
        EXPECT_EQ(bucket_of(Bytes(whole.begin(), whole.begin() + length), everything),
                  teamo_flow_bucket(&flow, everything))
            << length;
    }
}

} // namespace
} // namespace teamo::test
