// SPDX-License-Identifier: LGPL-2.1-or-later
#include "announce/announcement_frames.h"

#include <gmock/gmock.h>

#include <charconv>
#include <initializer_list>
#include <numeric>
#include <string_view>

namespace teamo::announce {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr MacAddress own{{0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc}};
const IpAddress ten_1 = *parse_ip("10.0.0.1"), ten_2 = *parse_ip("10.0.0.2"), fd_1 = *parse_ip("fd00::1"),
                link_local = *parse_ip("fe80::5054:ff:feaa:bbcc");

std::vector<IpAddress> groups(std::initializer_list<const char*> texts) {
    std::vector<IpAddress> list;
    for (const auto* text : texts)
        list.push_back(*parse_ip(text));
    return list;
}

/// Bytes from hexadecimal digits; blanks are ignored.
Bytes hex(std::string_view digits) {
    Bytes bytes;
    for (std::size_t i = 0; i < digits.size(); i++) {
        if (digits[i] == ' ') continue;
        unsigned value = 0;
        std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
        bytes.push_back(static_cast<std::byte>(value));
        i++;
    }
    return bytes;
}

/// The sum of RFC 1071; 0xffff over data that includes a correct checksum.
std::uint32_t folded_sum(const Bytes& bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
        sum += std::to_integer<std::uint32_t>(bytes[i]) * 256 + std::to_integer<std::uint32_t>(bytes[i + 1]);
    while (sum > 0xffff)
        sum = sum % 0x10000 + sum / 0x10000;
    return sum;
}

Bytes part(const Bytes& frame, std::ptrdiff_t from, std::ptrdiff_t length) {
    return {frame.begin() + from, frame.begin() + from + length};
}
Bytes from(const Bytes& frame, std::ptrdiff_t offset) { return {frame.begin() + offset, frame.end()}; }
std::uint32_t at16(const Bytes& frame, std::size_t offset) {
    return std::to_integer<std::uint32_t>(frame.at(offset)) << 8 |
           std::to_integer<std::uint32_t>(frame.at(offset + 1));
}

/// Pseudo header and message of an ICMPv6 frame whose message begins at `offset`.
Bytes with_pseudo_header(const Bytes& frame, std::ptrdiff_t offset) {
    Bytes all = part(frame, 22, 32);
    const auto length = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(frame.size()) - offset);
    for (const std::size_t byte : {std::size_t{0}, std::size_t{0}, length / 256, length % 256, std::size_t{0},
                                   std::size_t{0}, std::size_t{0}, std::size_t{58}})
        all.push_back(static_cast<std::byte>(byte));
    const auto message = from(frame, offset);
    all.insert(all.end(), message.begin(), message.end());
    return all;
}

TEST(PeerAnnouncement, sends_gratuitous_arp_per_ipv4_address) {
    const auto frames = peer_announcements({.mac = own, .ipv4 = {ten_1, ten_2}});
    EXPECT_THAT(frames, ElementsAre(hex("ffffffffffff 525400aabbcc 0806 0001 0800 06 04 0001"
                                        "525400aabbcc 0a000001 000000000000 0a000001"),
                                    hex("ffffffffffff 525400aabbcc 0806 0001 0800 06 04 0001"
                                        "525400aabbcc 0a000002 000000000000 0a000002")));
}

TEST(PeerAnnouncement, sends_unsolicited_advertisement_per_ipv6_address) {
    const auto frames = peer_announcements({.mac = own, .ipv6 = {fd_1}});
    ASSERT_THAT(frames, SizeIs(1));
    auto expected = hex("333300000001 525400aabbcc 86dd 60000000 0020 3a ff"
                        "fd000000000000000000000000000001 ff020000000000000000000000000001"
                        "88 00 0000 20000000 fd000000000000000000000000000001 02 01 525400aabbcc");
    expected[56] = frames[0].at(56); // the checksum, checked below
    expected[57] = frames[0].at(57);
    EXPECT_EQ(frames[0], expected);
    EXPECT_EQ(folded_sum(with_pseudo_header(frames[0], 54)), 0xffffU);
}

TEST(PeerAnnouncement, matches_kernel_byte_for_byte) {
    // Captured with tcpdump on Linux 6.18 with arp_notify and ndisc_notify on, after a change of address.
    constexpr MacAddress changed{{0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcd}};
    EXPECT_THAT(
        peer_announcements({.mac = changed, .ipv4 = {ten_1}, .ipv6 = {fd_1}}),
        ElementsAre(
            hex("ffffffffffff525400aabbcd08060001080006040001525400aabbcd0a0000010000000000000a000001"),
            hex("333300000001525400aabbcd86dd6000000000203afffd000000000000000000000000000001"
                "ff02000000000000000000000000000188004dd020000000"
                "fd0000000000000000000000000000010201525400aabbcd")));
}

TEST(PeerAnnouncement, sets_router_flag) {
    const auto frames = peer_announcements({.mac = own, .ipv6 = {fd_1}, .router = true});
    EXPECT_EQ(at16(frames.at(0), 58), 0xa000U);
    EXPECT_EQ(folded_sum(with_pseudo_header(frames[0], 54)), 0xffffU);
}

TEST(PeerAnnouncement, sends_rarp_without_addresses) {
    auto expected = hex("ffffffffffff 525400aabbcc 8035 0001 0800 06 04 0003"
                        "525400aabbcc 00000000 525400aabbcc 00000000");
    expected.resize(60);
    EXPECT_THAT(peer_announcements({.mac = own, .vlan = {}}), ElementsAre(expected));
}

TEST(PeerAnnouncement, takes_no_virtual_router_from_its_master) {
    for (const auto version : {std::uint8_t{1}, std::uint8_t{2}}) {
        const MacAddress router{{0, 0, 0x5e, 0, version, 51}};
        EXPECT_THAT(peer_announcements({.mac = router, .vlan = {}}), IsEmpty());
        EXPECT_THAT(peer_announcements({.mac = router, .vlan = {}, .ipv6 = {fd_1}}), SizeIs(1));
    }
}

TEST(PeerAnnouncement, has_vlan_tag) {
    const auto frames = peer_announcements({.mac = own, .vlan = 5, .ipv4 = {ten_1}, .ipv6 = {link_local}});
    ASSERT_THAT(frames, SizeIs(2));
    EXPECT_EQ(part(frames[0], 0, 18), hex("ffffffffffff 525400aabbcc 8100 0005 0806"));
    EXPECT_EQ(part(frames[1], 0, 18), hex("333300000001 525400aabbcc 8100 0005 86dd"));
    EXPECT_THAT(frames[0], SizeIs(46));
}

TEST(MembershipReport, igmp_v3_lists_all_groups_in_one_frame) {
    const auto frames =
        membership_reports({.mac = own,
                            .ipv4 = {ten_1, ten_2},
                            .ipv4_groups = groups({"224.0.0.1", "239.1.2.3", "224.0.0.251"})});
    ASSERT_THAT(frames, SizeIs(1));
    EXPECT_EQ(frames[0], hex("01005e000016 525400aabbcc 0800"
                             "46 c0 0030 0000 4000 01 02 f9f0 0a000001 e0000016 94040000"
                             "22 00 07fd 0000 0002 02000000 ef010203 02000000 e00000fb"));
    EXPECT_EQ(folded_sum(part(frames[0], 14, 24)), 0xffffU);
    EXPECT_EQ(folded_sum(from(frames[0], 38)), 0xffffU);
}

TEST(MembershipReport, older_igmp_reports_each_group) {
    for (const auto& [version, type] :
         {std::pair(IgmpVersion::v2, 0x16U), std::pair(IgmpVersion::v1, 0x12U)}) {
        const auto frames = membership_reports({.mac = own,
                                                .ipv4 = {ten_1},
                                                .ipv4_groups = groups({"239.129.2.3", "224.0.0.1"}),
                                                .igmp = version});
        ASSERT_THAT(frames, SizeIs(1));
        EXPECT_EQ(part(frames[0], 0, 14), hex("01005e010203 525400aabbcc 0800"));
        EXPECT_EQ(part(frames[0], 26, 12), hex("0a000001 ef810203 94040000"));
        EXPECT_EQ(at16(frames[0], 38), type << 8);
        EXPECT_EQ(from(frames[0], 42), hex("ef810203"));
        EXPECT_EQ(folded_sum(part(frames[0], 14, 24)), 0xffffU);
        EXPECT_EQ(folded_sum(from(frames[0], 38)), 0xffffU);
    }
}

TEST(MembershipReport, uses_zero_source_without_address) {
    const auto frames = membership_reports({.mac = own,
                                            .ipv6 = {fd_1},
                                            .ipv4_groups = groups({"239.1.2.3"}),
                                            .ipv6_groups = groups({"ff02::fb"})});
    ASSERT_THAT(frames, SizeIs(2));
    EXPECT_EQ(part(frames[0], 26, 4), hex("00000000"));
    EXPECT_EQ(part(frames[1], 22, 16), Bytes(16)) << "a global address is no source of MLD";
}

TEST(MembershipReport, mld_v2_uses_link_local_source) {
    const auto frames = membership_reports(
        {.mac = own,
         .ipv6 = {fd_1, link_local},
         .ipv6_groups = groups({"ff02::1", "ff01::9", "ff00::9", "ff11::9", "ff02::fb", "ff15::2"})});
    ASSERT_THAT(frames, SizeIs(1));
    auto expected =
        hex("333300000016 525400aabbcc 86dd 60000000 0038 00 01"
            "fe80000000000000505400fffeaabbcc ff020000000000000000000000000016"
            "3a 00 0502 0000 0100 8f 00 0000 0000 0002"
            "02000000 ff0200000000000000000000000000fb 02000000 ff150000000000000000000000000002");
    expected[64] = frames[0].at(64); // the checksum, checked below
    expected[65] = frames[0].at(65);
    EXPECT_EQ(frames[0], expected);
    EXPECT_EQ(folded_sum(with_pseudo_header(frames[0], 62)), 0xffffU);
}

TEST(MembershipReport, skips_groups_that_are_never_reported) {
    EXPECT_THAT(membership_reports({.mac = own,
                                    .ipv4_groups = groups({"224.0.0.1"}),
                                    .ipv6_groups = groups({"ff02::1", "ff01::1"})}),
                IsEmpty());
}

TEST(MembershipReport, splits_groups_to_fit_ethernet_frames) {
    Speaker speaker{.mac = own, .vlan = 7, .ipv4 = {ten_1}, .ipv6 = {link_local}};
    for (int i = 0; i < 1000; i++) {
        const auto high = static_cast<std::uint8_t>(i / 256), low = static_cast<std::uint8_t>(i % 256);
        speaker.ipv4_groups.push_back({.bytes = {239, 0, high, low}});
        speaker.ipv6_groups.push_back(
            {.ipv6 = true, .bytes = {0xff, 0x05, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low}});
    }
    std::size_t groups4 = 0, groups6 = 0;
    for (const auto& frame : membership_reports(speaker)) {
        EXPECT_LE(frame.size(), 1518U);
        const bool is_ipv4 = at16(frame, 16) == 0x0800;
        (is_ipv4 ? groups4 : groups6) += is_ipv4 ? at16(frame, 18 + 24 + 6) : at16(frame, 18 + 48 + 6);
        EXPECT_EQ(at16(frame, is_ipv4 ? 20 : 22), frame.size() - (is_ipv4 ? 18 : 58)) << "length field";
    }
    EXPECT_EQ(groups4, 1000U);
    EXPECT_EQ(groups6, 1000U);
}

} // namespace
} // namespace teamo::announce
