// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/packet/packet.h"

#include "base/whole_number.h"
#include "datapath/bpf/flow_hash.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace teamo::ctl {
namespace {

constexpr std::size_t max_vlans = 2; // the hash has 32 bits for them
constexpr unsigned highest_vid = 4094;

struct Protocol {
    std::string_view name;
    std::uint8_t number;
};
constexpr std::array protocols{Protocol{"tcp", IPPROTO_TCP},      Protocol{"udp", IPPROTO_UDP},
                               Protocol{"sctp", IPPROTO_SCTP},    Protocol{"icmp", IPPROTO_ICMP},
                               Protocol{"icmp6", IPPROTO_ICMPV6}, Protocol{"gre", IPPROTO_GRE},
                               Protocol{"esp", IPPROTO_ESP}};

std::optional<std::uint8_t> protocol_named(std::string_view name) {
    const auto* const found = std::ranges::find(protocols, name, &Protocol::name);
    return found == protocols.end() ? std::nullopt : std::optional(found->number);
}

/// Sets a part that is not set yet. `kind` is for the error if the word could not be parsed.
template <class Part, class Parsed>
Result<> set_once(std::optional<Part>& part, std::string_view key, const Parsed& parsed,
                  std::string_view word, std::string_view kind) {
    if (part) return fail(EINVAL, fmt::format("\"{}\" is given twice", key));
    if (!parsed) return fail(EINVAL, fmt::format("{} \"{}\" is not a valid {}", key, word, kind));
    part = *parsed;
    return {};
}

Result<> set_protocol(Packet& packet, std::string_view word) {
    auto number = protocol_named(word);
    if (!number) number = whole_number<std::uint8_t>(word);
    if (!number) return fail(EINVAL, fmt::format("proto \"{}\" is not an IP protocol", word));
    if (packet.protocol != 0) return fail(EINVAL, "the protocol is given twice");
    packet.protocol = *number;
    return {};
}

Result<> add_vlan(Packet& packet, std::string_view word) {
    const auto vid = whole_number<std::uint16_t>(word);
    if (!vid || *vid == 0 || *vid > highest_vid)
        return fail(EINVAL, fmt::format("vlan \"{}\" is not a VLAN ID (1 to 4094)", word));
    if (packet.vlans.size() == max_vlans) return fail(EINVAL, "more than two VLANs are not hashed");
    packet.vlans.push_back(*vid);
    return {};
}

/// ENOENT: a packet has no such part.
Result<> set_part(Packet& packet, std::string_view key, std::string_view word) {
    const auto port = [word] { return whole_number<std::uint16_t>(word); };
    if (key == "src") return set_once(packet.src, key, parse_ip(word), word, "IP address");
    if (key == "dst") return set_once(packet.dst, key, parse_ip(word), word, "IP address");
    if (key == "sport") return set_once(packet.sport, key, port(), word, "port");
    if (key == "dport") return set_once(packet.dport, key, port(), word, "port");
    if (key == "smac") return set_once(packet.smac, key, parse_mac_address(word), word, "MAC address");
    if (key == "dmac") return set_once(packet.dmac, key, parse_mac_address(word), word, "MAC address");
    if (key == "vlan") return add_vlan(packet, word);
    if (key == "proto") return set_protocol(packet, word);
    return fail(
        ENOENT,
        fmt::format(
            "\"{}\" is not a part of a packet; use src, dst, tcp, udp, sctp, icmp, icmp6, gre, esp, proto, "
            "sport, dport, smac, dmac or vlan",
            key));
}

Result<Packet> checked(Packet packet) {
    if (packet.src && packet.dst && packet.src->ipv6 != packet.dst->ipv6)
        return fail(EINVAL, "src and dst have different IP versions");
    if ((packet.sport || packet.dport) && teamo_hash_field_of(packet.protocol) == 0)
        return fail(EINVAL, "sport and dport need tcp, udp or sctp");
    return packet;
}

bool is_ipv6(const Packet& packet) {
    return (packet.src && packet.src->ipv6) || (packet.dst && packet.dst->ipv6);
}

std::uint64_t number_of(const MacAddress& address) {
    std::uint64_t number = 0;
    for (const auto byte : address.bytes)
        number = number << 8 | byte;
    return number;
}

/// Four words in host order, an IPv4 address as the last.
void put_words(const IpAddress& address, std::span<std::uint32_t, 4> words) {
    std::size_t at = address.ipv6 ? 0 : 3;
    for (std::size_t byte = 0; byte < address.size(); byte += 4, ++at)
        words[at] = std::uint32_t{address.bytes[byte]} << 24 | std::uint32_t{address.bytes[byte + 1]} << 16 |
                    std::uint32_t{address.bytes[byte + 2]} << 8 | address.bytes[byte + 3];
}

} // namespace

Result<Packet> parse_packet(std::span<const std::string> words) {
    Packet packet;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const auto& key = words[at];
        if (protocol_named(key)) {
            TEAMO_TRY(set_protocol(packet, key));
            continue;
        }
        const bool has_value = at + 1 < words.size();
        const auto set = set_part(packet, key, has_value ? words[++at] : "");
        // An unknown word at the end must be reported as unknown, not as without a value.
        if (!has_value && set.error().number != ENOENT)
            return fail(EINVAL, fmt::format("\"{}\" needs a value", key));
        TEAMO_TRY(set);
    }
    return checked(std::move(packet));
}

std::vector<std::string> missing_parts(const Packet& packet, HashFields fields) {
    std::vector<std::string> missing;
    const auto need = [&](HashFields for_fields, bool there, const char* name) {
        if ((fields & for_fields) != 0 && !there) missing.emplace_back(name);
    };
    constexpr HashFields any_ip = TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6;
    const HashFields ip = packet.src || packet.dst ? (is_ipv6(packet) ? TEAMO_HASH_IPV6 : TEAMO_HASH_IPV4)
                          : packet.protocol != 0   ? any_ip
                                                   : 0;
    const auto ports = teamo_hash_field_of(packet.protocol);
    need(ip, packet.src.has_value(), "src");
    need(ip, packet.dst.has_value(), "dst");
    need(ports, packet.sport.has_value(), "sport");
    need(ports, packet.dport.has_value(), "dport");
    need(TEAMO_HASH_ETH, packet.smac.has_value(), "smac");
    need(TEAMO_HASH_ETH, packet.dmac.has_value(), "dmac");
    return missing;
}

std::uint8_t bucket_of(const Packet& packet, HashFields fields) {
    teamo_flow flow{};
    flow.dst_mac = number_of(packet.dmac.value_or(MacAddress{}));
    flow.src_mac = number_of(packet.smac.value_or(MacAddress{}));
    for (const auto vid : packet.vlans)
        flow.vlan = flow.vlan << 12 | vid;
    if (packet.src || packet.dst) flow.ip_version = is_ipv6(packet) ? 6 : 4;
    if (packet.dst) put_words(*packet.dst, flow.dst_ip);
    if (packet.src) put_words(*packet.src, flow.src_ip);
    flow.protocol = packet.protocol;
    flow.dst_port = packet.dport.value_or(0);
    flow.src_port = packet.sport.value_or(0);
    return static_cast<std::uint8_t>(teamo_flow_bucket(&flow, fields));
}

} // namespace teamo::ctl
