// SPDX-License-Identifier: LGPL-2.1-or-later
#include "hash_cases.h"

#include <algorithm>

namespace teamo::test::hash_cases {
namespace {

PacketBuilder many_extensions(unsigned count) {
    auto packet = start().ipv6(ip6());
    for (unsigned i = 0; i < count; i++)
        packet.extension(PacketBuilder::destination);
    return packet;
}

MacAddress mac_of(std::uint64_t number) {
    MacAddress address;
    for (std::size_t i = 0; i < 6; i++)
        address.bytes[i] = static_cast<std::uint8_t>(number >> (40 - 8 * i));
    return address;
}

/// Adds an IPv4 header, in one case of four that of a fragment. Returns whether ports may follow.
bool random_ipv4(std::mt19937& random, PacketBuilder& packet, const teamo_flow& flow) {
    constexpr std::array<std::uint16_t, 4> fragments{0x2000, 0x2010, 0x0001, 0x1fff};
    const auto fragment = random() % 4 == 0 ? fragments[random() % 4] : std::uint16_t{0};
    const auto dont = static_cast<std::uint16_t>(random() % 2 == 0 ? 0x4000 : 0); // does not affect the hash
    packet.ipv4({.from = flow.src_ip[3],
                 .to = flow.dst_ip[3],
                 .fragment = static_cast<std::uint16_t>(fragment | dont),
                 .option_words = random() % 11});
    return fragment == 0;
}

/// Adds an IPv6 header with up to seven extensions, of which the programs walk six, and in one case of eight
/// a fragment header. Returns whether ports may follow.
bool random_ipv6(std::mt19937& random, PacketBuilder& packet, const teamo_flow& flow) {
    using B = PacketBuilder;
    constexpr std::array types{B::hop_by_hop, B::routing, B::destination};
    packet.ipv6({.from = std::to_array(flow.src_ip), .to = std::to_array(flow.dst_ip)});
    const auto extensions = random() % 8;
    for (unsigned i = 0; i < extensions; i++)
        packet.extension(types[random() % types.size()], static_cast<std::uint8_t>(random() % 3));
    const bool fragment = random() % 8 == 0;
    if (fragment) packet.ipv6_fragment(static_cast<std::uint16_t>(random()));
    return extensions <= 6 && !fragment;
}

} // namespace

PacketBuilder start() { return {peer, own}; }

teamo_flow macs() {
    teamo_flow flow{};
    flow.dst_mac = peer_number;
    flow.src_mac = own_number;
    return flow;
}

teamo_flow v4(std::uint8_t protocol, std::uint32_t vlan) {
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

teamo_flow v6(std::uint8_t protocol, std::uint32_t vlan) {
    teamo_flow flow = v4(protocol, vlan);
    flow.ip_version = 6;
    std::ranges::copy(ip6_to, std::begin(flow.dst_ip));
    std::ranges::copy(ip6_from, std::begin(flow.src_ip));
    return flow;
}

Ipv4Header ip(std::uint16_t fragment, std::size_t options) {
    return {.from = ip_from, .to = ip_to, .fragment = fragment, .option_words = options};
}
Ipv6Header ip6() { return {.from = ip6_from, .to = ip6_to}; }

std::vector<Case> plain_cases() {
    return {
        {"no IP", start().other(0x88b5, 46).bytes(), macs()},
        {"ARP", start().other(0x0806, 28).bytes(), macs()},
        {"IPv4 ICMP", start().ipv4(ip()).other(1, 16).bytes(), v4()},
        {"IPv6 ICMP", start().ipv6(ip6()).other(58, 16).bytes(), v6()},
        {"IPv4, no L4", start().ipv4(ip()).other(47).bytes(), v4()},
        {"IPv4 TCP", start().ipv4(ip()).tcp(1111, 2222).bytes(), v4(tcp)},
        {"IPv4 UDP", start().ipv4(ip()).udp(1111, 2222).bytes(), v4(udp)},
        {"IPv4 SCTP", start().ipv4(ip()).sctp(1111, 2222).bytes(), v4(sctp)},
        {"IPv4 options", start().ipv4(ip(0, 1)).tcp(1111, 2222).bytes(), v4(tcp)},
        {"IPv4 all options", start().ipv4(ip(0, 10)).udp(1111, 2222).bytes(), v4(udp)},
        {"do not fragment", start().ipv4(ip(0x4000)).tcp(1111, 2222).bytes(), v4(tcp)},
        {"IPv6, no L4", start().ipv6(ip6()).other(59).bytes(), v6()},
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
    };
}

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

Case random_case(std::mt19937& random) {
    teamo_flow flow{};
    flow.dst_mac = (std::uint64_t{random()} << 32 | random()) & 0xfeff'ffff'ffff;
    flow.src_mac = (std::uint64_t{random()} << 32 | random()) & 0xfeff'ffff'ffff;
    PacketBuilder packet(mac_of(flow.dst_mac), mac_of(flow.src_mac));
    for (auto tags = random() % 3; tags > 0; tags--) {
        const auto tci = static_cast<std::uint16_t>(random());
        packet.vlan(tci, random() % 2 == 0 ? PacketBuilder::dot1q : PacketBuilder::dot1ad);
        flow.vlan = flow.vlan << 12 | (tci & 0xfff);
    }
    constexpr std::uint16_t no_ip = 0x88b5;
    if (random() % 16 == 0) return {"random, no IP", packet.other(no_ip, 40 + random() % 64).bytes(), flow};
    flow.ip_version = random() % 2 == 0 ? 4 : 6;
    for (std::size_t at = flow.ip_version == 4 ? 3 : 0; at < 4; at++) {
        flow.dst_ip[at] = static_cast<std::uint32_t>(random());
        flow.src_ip[at] = static_cast<std::uint32_t>(random());
    }
    const bool with_ports =
        flow.ip_version == 4 ? random_ipv4(random, packet, flow) : random_ipv6(random, packet, flow);
    const auto from = static_cast<std::uint16_t>(random()), to = static_cast<std::uint16_t>(random());
    std::uint8_t protocol = 0;
    switch (random() % 4) {
    case 0: packet.tcp(from, to), protocol = tcp; break;
    case 1: packet.udp(from, to), protocol = udp; break;
    case 2: packet.sctp(from, to), protocol = sctp; break;
    default: packet.other(flow.ip_version == 4 ? 1 : 58); break;
    }
    if (with_ports && protocol != 0) flow.protocol = protocol, flow.src_port = from, flow.dst_port = to;
    return {"random", packet.payload(random() % 64).bytes(), flow};
}

} // namespace teamo::test::hash_cases
