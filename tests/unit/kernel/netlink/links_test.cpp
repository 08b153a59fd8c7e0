// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/links.h"

#include <gtest/gtest.h>
#include <linux/if_link.h>
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

/// A slave of a bond.
std::optional<Link> slave_with(std::uint8_t mii_status) {
    ifinfomsg header{};
    header.ifi_index = 7;
    auto message = make_message(RTM_NEWLINK, 0, header);
    nla_put_u32(message.get(), IFLA_MTU, 1500);
    auto* info = nla_nest_start(message.get(), IFLA_LINKINFO);
    nla_put_string(message.get(), IFLA_INFO_SLAVE_KIND, "bond");
    auto* data = nla_nest_start(message.get(), IFLA_INFO_SLAVE_DATA);
    nla_put_u8(message.get(), IFLA_BOND_SLAVE_MII_STATUS, mii_status);
    nla_nest_end(message.get(), data);
    nla_nest_end(message.get(), info);
    return parse_link(nlmsg_hdr(message.get()));
}

TEST(NetlinkMessage, reads_whether_bonding_uses_the_link_of_a_slave) {
    // include/net/bonding.h: BOND_LINK_UP, _FAIL, _DOWN, _BACK
    for (const auto& [status, usable] : {std::pair{0, true}, {1, true}, {2, false}, {3, false}}) {
        const auto link = slave_with(static_cast<std::uint8_t>(status));
        ASSERT_TRUE(link.has_value());
        EXPECT_EQ(link->bond_uses_link, usable) << status;
    }
}

} // namespace
} // namespace teamo
