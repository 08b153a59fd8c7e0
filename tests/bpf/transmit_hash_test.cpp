// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which bucket the transmit program finds for a packet, and the team driver's classic one, against
// flow_hash.h: what is said of a flow is what happens to it, by either datapath.
#include "classic_program.h"
#include "datapath/bpf/flow_hash.h"
#include "programs.h"
#include "support/packet.h"
#include "vlan_tag.skel.h"

#include <bpf/bpf.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace teamo::test {
namespace {

constexpr std::uint32_t l4 = TEAMO_HASH_TCP | TEAMO_HASH_UDP | TEAMO_HASH_SCTP;
constexpr std::uint32_t everything =
    TEAMO_HASH_ETH | TEAMO_HASH_VLAN | TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6 | l4;
constexpr MacAddress peer{{0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc}}, own{{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}};
constexpr std::uint64_t peer_number = 0x525400aabbcc, own_number = 0x021122334455;
constexpr std::uint32_t ip_from = 0x0a000001, ip_to = 0x0a000002;
constexpr Ipv6Words ip6_from{0xfd000000, 0x1111, 0x2222, 1}, ip6_to{0xfd000000, 0x3333, 0x4444, 2};
constexpr std::uint8_t tcp = 6, udp = 17, sctp = 132;

PacketBuilder start() { return {peer, own}; }

/// A packet, and the flow it is of.
struct Case {
    std::string what;
    Bytes packet;
    teamo_flow flow;
};

teamo_flow macs() {
    teamo_flow flow{};
    flow.dst_mac = peer_number;
    flow.src_mac = own_number;
    return flow;
}

teamo_flow v4(std::uint8_t protocol = 0, std::uint32_t vlan = 0) {
    teamo_flow flow = macs();
    flow.vlan = vlan;
    flow.ip_version = 4;
    flow.dst_ip[3] = ip_to;
    flow.src_ip[3] = ip_from;
    flow.protocol = protocol;
    flow.src_port = protocol != 0 ? 1111 : 0;
    flow.dst_port = protocol != 0 ? 2222 : 0;
    return flow;
}

teamo_flow v6(std::uint8_t protocol = 0, std::uint32_t vlan = 0) {
    teamo_flow flow = v4(protocol, vlan);
    flow.ip_version = 6;
    std::ranges::copy(ip6_to, std::begin(flow.dst_ip));
    std::ranges::copy(ip6_from, std::begin(flow.src_ip));
    return flow;
}

Ipv4Header ip(std::uint16_t fragment = 0, std::size_t options = 0) {
    return {.from = ip_from, .to = ip_to, .fragment = fragment, .option_words = options};
}
Ipv6Header ip6() { return {.from = ip6_from, .to = ip6_to}; }

PacketBuilder many_extensions(unsigned count) {
    auto packet = start().ipv6(ip6());
    for (unsigned i = 0; i < count; i++)
        packet.extension(PacketBuilder::destination);
    return packet;
}

std::vector<Case> plain_cases() {
    return {
        {"no IP", start().other(0x88b5, 46).bytes(), macs()},
        {"IPv4, no L4", start().ipv4(ip()).other(47).bytes(), v4()},
        {"IPv4 TCP", start().ipv4(ip()).tcp(1111, 2222).bytes(), v4(tcp)},
        {"IPv4 UDP", start().ipv4(ip()).udp(1111, 2222).bytes(), v4(udp)},
        {"IPv4 SCTP", start().ipv4(ip()).sctp(1111, 2222).bytes(), v4(sctp)},
        {"IPv4 options", start().ipv4(ip(0, 1)).tcp(1111, 2222).bytes(), v4(tcp)},
        {"IPv4 all options", start().ipv4(ip(0, 10)).udp(1111, 2222).bytes(), v4(udp)},
        {"do not fragment", start().ipv4(ip(0x4000)).tcp(1111, 2222).bytes(), v4(tcp)},
        {"IPv6, no L4", start().ipv6(ip6()).other(58).bytes(), v6()},
        {"IPv6 TCP", start().ipv6(ip6()).tcp(1111, 2222).bytes(), v6(tcp)},
        {"IPv6 UDP", start().ipv6(ip6()).udp(1111, 2222).bytes(), v6(udp)},
        {"IPv6 SCTP", start().ipv6(ip6()).sctp(1111, 2222).bytes(), v6(sctp)},
    };
}

std::vector<Case> fragment_cases() {
    return {
        {"first fragment", start().ipv4(ip(0x2000)).udp(1111, 2222).payload(32).bytes(), v4()},
        {"middle fragment", start().ipv4(ip(0x2005)).udp(1111, 2222).bytes(), v4()},
        {"last fragment", start().ipv4(ip(0x0005)).udp(1111, 2222).bytes(), v4()},
        {"IPv6 first", start().ipv6(ip6()).ipv6_fragment(1).udp(1111, 2222).bytes(), v6()},
        {"IPv6 last", start().ipv6(ip6()).ipv6_fragment(8).udp(1111, 2222).bytes(), v6()},
        {"IPv6 behind options",
         start().ipv6(ip6()).extension(PacketBuilder::hop_by_hop).ipv6_fragment(1).udp(1111, 2222).bytes(),
         v6()},
    };
}

std::vector<Case> extension_cases() {
    using B = PacketBuilder;
    return {
        {"hop by hop", start().ipv6(ip6()).extension(B::hop_by_hop).tcp(1111, 2222).bytes(), v6(tcp)},
        {"routing", start().ipv6(ip6()).extension(B::routing, 2).udp(1111, 2222).bytes(), v6(udp)},
        {"destination", start().ipv6(ip6()).extension(B::destination, 7).tcp(1111, 2222).bytes(), v6(tcp)},
        {"three of them",
         start()
             .ipv6(ip6())
             .extension(B::hop_by_hop)
             .extension(B::routing)
             .extension(B::destination, 1)
             .sctp(1111, 2222)
             .bytes(),
         v6(sctp)},
        {"six", many_extensions(6).tcp(1111, 2222).bytes(), v6(tcp)},
        {"seven are too many", many_extensions(7).tcp(1111, 2222).bytes(), v6()},
        {"a long one", start().ipv6(ip6()).extension(B::destination, 255).tcp(1111, 2222).bytes(), v6(tcp)},
        {"unknown extension", start().ipv6(ip6()).extension(51).tcp(1111, 2222).bytes(), v6()},
    };
}

std::vector<Case> vlan_cases() {
    using B = PacketBuilder;
    return {
        {"priority is no VLAN", start().vlan(0xe000 | 5).ipv4(ip()).tcp(1111, 2222).bytes(), v4(tcp, 5)},
        {"802.1ad", start().vlan(9, B::dot1ad).ipv6(ip6()).udp(1111, 2222).bytes(), v6(udp, 9)},
        {"two tags", start().vlan(9, B::dot1ad).vlan(5).ipv4(ip()).tcp(1111, 2222).bytes(),
         v4(tcp, 9 << 12 | 5)},
        {"three are too many", start().vlan(1).vlan(2).vlan(3).ipv4(ip()).bytes(),
         [] {
             auto flow = macs();
             flow.vlan = 1 << 12 | 2;
             return flow;
         }()},
    };
}

/// Every case with every one of the fragments of a hash, with all and with some sets of them.
const std::vector<std::uint32_t>& field_sets() {
    static const std::vector<std::uint32_t> sets = {TEAMO_HASH_ETH,
                                                    TEAMO_HASH_VLAN,
                                                    TEAMO_HASH_IPV4,
                                                    TEAMO_HASH_IPV6,
                                                    TEAMO_HASH_TCP,
                                                    TEAMO_HASH_UDP,
                                                    TEAMO_HASH_SCTP,
                                                    l4,
                                                    TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6,
                                                    everything,
                                                    0};
    return sets;
}

class TransmitHash : public testing::Test {
protected:
    void same_bucket(const std::vector<Case>& cases) {
        for (const auto& [what, packet, flow] : cases)
            for (const auto fields : field_sets())
                EXPECT_EQ(bucket_of(packet, fields), teamo_flow_bucket(&flow, fields))
                    << what << ", hash fields " << fields;
    }

    /// By the BPF program, and the same by the classic one that the team driver gets.
    std::uint32_t bucket_of(const Bytes& packet, std::uint32_t fields) {
        const auto bucket = programs_.bucket_of(packet, fields);
        EXPECT_EQ(classic_bucket_of(packet, fields), bucket)
            << "classic program of hash fields " << fields << ", " << packet.size() << " bytes";
        return bucket;
    }

    Programs programs_;
};

TEST_F(TransmitHash, IsThatOfTheHeadersAskedFor) { same_bucket(plain_cases()); }
TEST_F(TransmitHash, LeavesOutThePortsOfEveryFragment) { same_bucket(fragment_cases()); }
TEST_F(TransmitHash, WalksIPv6Extensions) { same_bucket(extension_cases()); }
TEST_F(TransmitHash, KnowsTagsInThePacket) { same_bucket(vlan_cases()); }

TEST_F(TransmitHash, LeavesOutThePortsWhereTheHeaderLengthIsTooShort) {
    auto packet = start().ipv4(ip()).tcp(1111, 2222).bytes();
    packet.at(14) = std::byte{0x44};
    const auto flow = v4();
    EXPECT_EQ(bucket_of(packet, everything), teamo_flow_bucket(&flow, everything));
}

TEST_F(TransmitHash, BothPortsOfIPv6MoveAFlow) {
    int moved = 0;
    for (std::uint16_t port = 1; port <= 32; port++) {
        const auto one = bucket_of(start().ipv6(ip6()).tcp(port, 443).bytes(), everything);
        const auto next =
            bucket_of(start().ipv6(ip6()).tcp(static_cast<std::uint16_t>(port + 1), 443).bytes(), everything);
        moved += one != next ? 1 : 0;
    }
    EXPECT_EQ(moved, 32) << "teamd hashes the destination port only";
}

TEST_F(TransmitHash, ATagBesideThePacketHashesAsOneInIt) {
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

TEST_F(TransmitHash, OfPacketsCutShortNeverFaults) {
    // BPF_PROG_TEST_RUN itself refuses a bare Ethernet header, and what is short for IP: hence the tag.
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

TEST_F(TransmitHash, OfAPacketCutShortIsThatOfWhatIsThere) {
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

/// A random packet of any make, and its flow.
Case random_case(std::mt19937& random) {
    const auto word = [&random] { return static_cast<std::uint32_t>(random()); };
    const auto below = [&random](std::uint32_t limit) { return random() % limit; };
    const auto mac_of = [](std::uint64_t number) {
        MacAddress address;
        for (std::size_t i = 0; i < 6; i++)
            address.bytes[i] = static_cast<std::uint8_t>(number >> (40 - 8 * i));
        return address;
    };
    teamo_flow flow{};
    flow.dst_mac = (std::uint64_t{random()} << 32 | random()) & 0xfeff'ffff'ffff;
    flow.src_mac = (std::uint64_t{random()} << 32 | random()) & 0xfeff'ffff'ffff;
    PacketBuilder packet(mac_of(flow.dst_mac), mac_of(flow.src_mac));
    for (auto tags = below(3); tags > 0; tags--) {
        const auto tci = static_cast<std::uint16_t>(random());
        packet.vlan(tci);
        flow.vlan = flow.vlan << 12 | (tci & 0xfff);
    }
    flow.ip_version = below(2) == 0 ? 4 : 6;
    for (std::size_t at = flow.ip_version == 4 ? 3 : 0; at < 4; at++) {
        flow.dst_ip[at] = word();
        flow.src_ip[at] = word();
    }
    if (flow.ip_version == 4) {
        packet.ipv4({.from = flow.src_ip[3], .to = flow.dst_ip[3], .fragment = 0, .option_words = below(11)});
    } else {
        packet.ipv6({.from = std::to_array(flow.src_ip), .to = std::to_array(flow.dst_ip)});
        for (auto extensions = below(4); extensions > 0; extensions--)
            packet.extension(PacketBuilder::destination, static_cast<std::uint8_t>(below(3)));
    }
    const auto from = static_cast<std::uint16_t>(random()), to = static_cast<std::uint16_t>(random());
    flow.src_port = from;
    flow.dst_port = to;
    switch (below(3)) {
    case 0: packet.tcp(from, to), flow.protocol = tcp; break;
    case 1: packet.udp(from, to), flow.protocol = udp; break;
    default: packet.sctp(from, to), flow.protocol = sctp; break;
    }
    return {"random", packet.payload(below(64)).bytes(), flow};
}

TEST_F(TransmitHash, OfRandomPacketsIsTheDaemons) {
    const auto seed = std::random_device{}();
    std::mt19937 random(seed);
    for (int i = 0; i < 500; i++) {
        const auto [what, packet, flow] = random_case(random);
        const auto fields = static_cast<std::uint32_t>(random()) & everything;
        ASSERT_EQ(bucket_of(packet, fields), teamo_flow_bucket(&flow, fields))
            << "packet " << i << " of seed " << seed << ", hash fields " << fields;
    }
}

} // namespace
} // namespace teamo::test
