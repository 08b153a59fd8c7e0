// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/links.h"

#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>

namespace teamo {
namespace {

TEST(NetlinkMessage, reads_vlan_id_of_link) {
    ifinfomsg header{};
    header.ifi_index = 7;
    auto message = make_message(RTM_NEWLINK, 0, header);
    nla_put_string(message.get(), IFLA_IFNAME, "team0.100");
    nla_put_u32(message.get(), IFLA_MTU, 1500);
    auto* info = nla_nest_start(message.get(), IFLA_LINKINFO);
    nla_put_string(message.get(), IFLA_INFO_KIND, "vlan");
    auto* data = nla_nest_start(message.get(), IFLA_INFO_DATA);
    nla_put_u16(message.get(), IFLA_VLAN_ID, 100);
    nla_nest_end(message.get(), data);
    nla_nest_end(message.get(), info);
    const auto link = parse_link(nlmsg_hdr(message.get()));
    ASSERT_TRUE(link.has_value());
    EXPECT_EQ(link->vlan, 100);
}

/// A device with one option, of a bond or of its slave.
template <class Number>
Link link_with(int kind, int options, int option, Number value) {
    ifinfomsg header{};
    header.ifi_index = 7;
    auto message = make_message(RTM_NEWLINK, 0, header);
    nla_put_u32(message.get(), IFLA_MTU, 1500);
    auto* info = nla_nest_start(message.get(), IFLA_LINKINFO);
    nla_put_string(message.get(), kind, "bond");
    auto* data = nla_nest_start(message.get(), options);
    nla_put(message.get(), option, sizeof value, &value);
    nla_nest_end(message.get(), data);
    nla_nest_end(message.get(), info);
    return parse_link(nlmsg_hdr(message.get())).value();
}
template <class Number>
Link bond_with(int option, Number value) {
    return link_with(IFLA_INFO_KIND, IFLA_INFO_DATA, option, value);
}

TEST(NetlinkMessage, reads_whether_bonding_uses_the_link_of_a_slave) {
    // include/net/bonding.h: BOND_LINK_UP, _FAIL, _DOWN, _BACK
    for (const auto& [status, usable] : {std::pair{std::uint8_t{0}, true},
                                         {std::uint8_t{1}, true},
                                         {std::uint8_t{2}, false},
                                         {std::uint8_t{3}, false}})
        EXPECT_EQ(usable,
                  link_with(IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA, IFLA_BOND_SLAVE_MII_STATUS, status)
                      .bond_uses_link)
            << int{status};
}

TEST(NetlinkMessage, reads_options_of_a_bond) {
    for (const auto& [number, policy] : {std::pair{std::uint8_t{2}, std::optional(BondPolicy::layer23)},
                                         {std::uint8_t{4}, std::optional(BondPolicy::encap34)},
                                         {std::uint8_t{9}, std::optional<BondPolicy>()}})
        EXPECT_EQ(policy, bond_with(IFLA_BOND_XMIT_HASH_POLICY, number).bond_policy) << int{number};
    EXPECT_TRUE(bond_with<std::uint8_t>(IFLA_BOND_FAIL_OVER_MAC, 0).bond_shares_address);
    EXPECT_FALSE(bond_with<std::uint8_t>(IFLA_BOND_FAIL_OVER_MAC, 1).bond_shares_address);
    EXPECT_FALSE(bond_with<std::uint8_t>(IFLA_BOND_ALL_SLAVES_ACTIVE, 0).bond_takes_all);
    EXPECT_TRUE(bond_with<std::uint8_t>(IFLA_BOND_ALL_SLAVES_ACTIVE, 1).bond_takes_all);
    EXPECT_EQ(250U, bond_with<std::uint32_t>(IFLA_BOND_ARP_INTERVAL, 250).bond_arp_interval);
}

/// `type`: where a message of that family has the settings of IPv6.
NlMessage message_with_ipv6(std::uint8_t family, int type, std::int32_t disabled, std::size_t settings) {
    ifinfomsg header{};
    header.ifi_family = family;
    header.ifi_index = 7;
    auto message = make_message(RTM_NEWLINK, 0, header);
    nla_put_u32(message.get(), IFLA_MTU, 1500);
    std::vector<std::int32_t> values(settings);
    if (settings > DEVCONF_DISABLE_IPV6) values[DEVCONF_DISABLE_IPV6] = disabled;
    auto* outer = nla_nest_start(message.get(), type);
    auto* inner = family == AF_INET6 ? nullptr : nla_nest_start(message.get(), AF_INET6);
    nla_put(message.get(), IFLA_INET6_CONF, static_cast<int>(settings * sizeof values[0]), values.data());
    if (inner != nullptr) nla_nest_end(message.get(), inner);
    nla_nest_end(message.get(), outer);
    return message;
}

TEST(NetlinkMessage, reads_whether_ipv6_is_on) {
    for (const std::int32_t disabled : {0, 1}) {
        const auto message = message_with_ipv6(AF_UNSPEC, IFLA_AF_SPEC, disabled, DEVCONF_MAX);
        EXPECT_EQ(disabled == 0, parse_link(nlmsg_hdr(message.get())).value().ipv6);
        EXPECT_FALSE(parse_ipv6_event(nlmsg_hdr(message.get())));
        const auto event = message_with_ipv6(AF_INET6, IFLA_PROTINFO, disabled, DEVCONF_MAX);
        EXPECT_FALSE(parse_link(nlmsg_hdr(event.get())));
        const auto parsed = parse_ipv6_event(nlmsg_hdr(event.get()));
        ASSERT_TRUE(parsed);
        EXPECT_EQ(parsed->device, IfIndex{7});
        EXPECT_EQ(parsed->on, disabled == 0);
    }
    const auto shorter = message_with_ipv6(AF_UNSPEC, IFLA_AF_SPEC, 0, DEVCONF_DISABLE_IPV6);
    EXPECT_FALSE(parse_link(nlmsg_hdr(shorter.get())).value().ipv6);
    const auto lost = message_with_ipv6(AF_INET6, IFLA_PROTINFO, 0, DEVCONF_MAX);
    nlmsg_hdr(lost.get())->nlmsg_type = RTM_DELLINK;
    EXPECT_FALSE(parse_ipv6_event(nlmsg_hdr(lost.get())).value().on) << "its MTU is too small now";
}

} // namespace
} // namespace teamo
