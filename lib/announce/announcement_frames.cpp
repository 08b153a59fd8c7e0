// SPDX-License-Identifier: LGPL-2.1-or-later
#include "announce/announcement_frames.h"

#include "base/frames.h"

#include <algorithm>
#include <span>

namespace teamo::announce {
namespace {

constexpr std::uint16_t ethertype_rarp = 0x8035;
constexpr std::size_t mtu = 1500; ///< that every Ethernet supports

constexpr std::uint8_t protocol_igmp = 2;
constexpr std::uint8_t internetwork_control = 0xc0; // traffic class CS6, as the kernel marks IGMP
constexpr std::uint16_t dont_fragment = 0x4000;

constexpr IpAddress all_hosts{.bytes = {224, 0, 0, 1}}, igmpv3_routers{.bytes = {224, 0, 0, 22}};
constexpr IpAddress all_nodes{.ipv6 = true, .bytes = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr IpAddress mldv2_routers{.ipv6 = true,
                                  .bytes = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16}};

/// Exclude mode without sources means all senders (RFC 3376, 4.2.12; RFC 3810, 5.2.12).
constexpr std::uint8_t mode_is_exclude = 2;

FrameSource source_of(const Speaker& speaker) { return {.mac = speaker.mac, .vlan = speaker.vlan}; }

/// An IGMP message (its checksum at offset 2 filled in here) to a group, with router alert and TTL 1.
Bytes igmp_frame(const Speaker& speaker, const IpAddress& group, FrameWriter message) {
    constexpr std::size_t header_size = 24, header_checksum = 10;
    message.patch(icmp_checksum_offset, internet_checksum(message.bytes()));

    FrameWriter header;
    header.big_endian(std::uint8_t{0x46}).big_endian(internetwork_control);
    header.big_endian(static_cast<std::uint16_t>(header_size + message.size())).big_endian(std::uint16_t{0});
    header.big_endian(dont_fragment).big_endian(std::uint8_t{1}).big_endian(protocol_igmp);
    header.big_endian(std::uint16_t{0});
    // 0.0.0.0 without an address, which routers accept (RFC 3376, 4.2.13).
    header.ip(speaker.ipv4.empty() ? IpAddress{} : speaker.ipv4.front()).ip(group);
    header.big_endian(0x94040000U); // router alert (RFC 2113)
    header.patch(header_checksum, internet_checksum(header.bytes()));

    auto frame = ethernet_frame(source_of(speaker), multicast_mac(group).value_or(broadcast_mac), ether_ipv4);
    return frame.raw(header.bytes()).raw(message.bytes()).take();
}

/// The kernel leaves the target's hardware address zero (arp_create).
Bytes gratuitous_arp(const Speaker& speaker, const IpAddress& address) {
    constexpr std::uint16_t request = 1;
    return arp_frame(source_of(speaker), {.operation = request, .sender = address, .target = address});
}

Bytes rarp_announcement(const Speaker& speaker) {
    constexpr std::uint16_t request_reverse = 3;
    constexpr std::size_t shortest_frame = 60;
    auto frame =
        arp_frame(source_of(speaker),
                  {.ethertype = ethertype_rarp, .operation = request_reverse, .target_mac = speaker.mac});
    frame.resize(std::max(frame.size(), shortest_frame));
    return frame;
}

/// RFC 4861, 4.4; as ndisc_send_unsol_na() sends it.
Bytes neighbour_advertisement(const Speaker& speaker, const IpAddress& address) {
    constexpr std::uint8_t type = 136, target_link_layer_address = 2, length_in_8_bytes = 1;
    constexpr std::uint32_t router_flag = 1U << 31, override_flag = 1U << 29;
    FrameWriter message;
    message.big_endian(type).big_endian(std::uint8_t{0}).big_endian(std::uint16_t{0});
    message.big_endian((speaker.router ? router_flag : 0) | override_flag).ip(address);
    message.big_endian(target_link_layer_address).big_endian(length_in_8_bytes).mac(speaker.mac);
    return icmpv6_frame(source_of(speaker), {.from = address, .to = all_nodes}, std::move(message));
}

/// Calls `report` with as many groups at a time as fit a frame.
template <class Report>
void in_portions(const std::vector<IpAddress>& groups, std::size_t portion, Report report) {
    for (std::span<const IpAddress> rest(groups); !rest.empty();) {
        const auto now = rest.first(std::min(portion, rest.size()));
        report(now);
        rest = rest.subspan(now.size());
    }
}

/// RFC 1112, appendix I, and RFC 2236: a report each, to the group itself.
Bytes igmp_report(const Speaker& speaker, const IpAddress& group) {
    const std::uint8_t type = speaker.igmp == IgmpVersion::v1 ? 0x12 : 0x16;
    FrameWriter message;
    message.big_endian(type).big_endian(std::uint8_t{0}).big_endian(std::uint16_t{0}).ip(group);
    return igmp_frame(speaker, group, std::move(message));
}

/// The message of an IGMPv3 report (RFC 3376, 4.2) or an MLDv2 report (RFC 3810, 5.2): a record for each
/// group.
FrameWriter group_records(std::uint8_t type, std::span<const IpAddress> groups) {
    FrameWriter message;
    message.big_endian(type).big_endian(std::uint8_t{0}).big_endian(std::uint16_t{0});
    message.big_endian(std::uint16_t{0}).big_endian(static_cast<std::uint16_t>(groups.size()));
    for (const auto& group : groups) {
        message.big_endian(mode_is_exclude).big_endian(std::uint8_t{0}).big_endian(std::uint16_t{0});
        message.ip(group);
    }
    return message;
}

Bytes igmpv3_report(const Speaker& speaker, std::span<const IpAddress> groups) {
    return igmp_frame(speaker, igmpv3_routers, group_records(0x22, groups));
}

/// From the link-local address, else from none (RFC 3590).
Bytes mldv2_report(const Speaker& speaker, std::span<const IpAddress> groups) {
    const auto own = std::ranges::find_if(speaker.ipv6, &IpAddress::is_link_local);
    return icmpv6_frame(source_of(speaker),
                        {.from = own == speaker.ipv6.end() ? IpAddress{.ipv6 = true} : *own,
                         .to = mldv2_routers,
                         .hop_limit = 1,
                         .router_alert = true},
                        group_records(143, groups));
}

std::vector<IpAddress> reported(const std::vector<IpAddress>& groups) {
    std::vector<IpAddress> some;
    std::ranges::copy_if(groups, std::back_inserter(some), is_reported);
    return some;
}

/// RFC 9568, 7.3: 00-00-5E-00-01-{VRID} for IPv4, 00-00-5E-00-02-{VRID} for IPv6.
bool is_of_virtual_router(const MacAddress& mac) {
    constexpr std::array<std::uint8_t, 4> iana{0, 0, 0x5e, 0};
    return std::ranges::equal(iana, std::span(mac.bytes).first(iana.size())) &&
           (mac.bytes[4] == 1 || mac.bytes[4] == 2);
}

} // namespace

bool is_reported(const IpAddress& group) {
    return group.ipv6 ? group != all_nodes && (group.bytes[1] & 0x0f) > 1 : group != all_hosts;
}

std::vector<Bytes> peer_announcements(const Speaker& speaker) {
    std::vector<Bytes> frames;
    for (const auto& address : speaker.ipv4)
        frames.push_back(gratuitous_arp(speaker, address));
    for (const auto& address : speaker.ipv6)
        frames.push_back(neighbour_advertisement(speaker, address));
    // A virtual router without addresses here has them on another host, whose MAC address this is, too.
    if (frames.empty() && !is_of_virtual_router(speaker.mac)) frames.push_back(rarp_announcement(speaker));
    return frames;
}

Bytes learning_frame(const MacAddress& address, std::optional<std::uint16_t> vlan) {
    return rarp_announcement({.mac = address, .vlan = vlan});
}

std::vector<Bytes> membership_reports(const Speaker& speaker) {
    constexpr std::size_t igmp_portion = (mtu - 24 - 8) / 8, mld_portion = (mtu - 40 - 8 - 8) / 20;
    std::vector<Bytes> frames;
    const auto ipv4 = reported(speaker.ipv4_groups);
    if (speaker.igmp == IgmpVersion::v3)
        in_portions(ipv4, igmp_portion,
                    [&](auto groups) { frames.push_back(igmpv3_report(speaker, groups)); });
    else
        for (const auto& group : ipv4)
            frames.push_back(igmp_report(speaker, group));
    in_portions(reported(speaker.ipv6_groups), mld_portion,
                [&](auto groups) { frames.push_back(mldv2_report(speaker, groups)); });
    return frames;
}

} // namespace teamo::announce
