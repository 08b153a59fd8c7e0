// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/bond_lacp.h"

#include "kernel/netlink/netlink_socket.h"

#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace teamo {
namespace {

const IfIndex bond{7}, slave{8};

/// A message about a bond or a slave with the attributes that `put` adds.
NlMessage about(IfIndex device, int kind, int options, const auto& put) {
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(device.value);
    auto message = make_message(RTM_NEWLINK, 0, header);
    const MacAddress address{{2, 0, 0, 0, 0, 7}};
    nla_put(message.get(), IFLA_ADDRESS, 6, address.bytes.data());
    if (device == slave) nla_put_u32(message.get(), IFLA_MASTER, bond.value);
    const Nest info(message.get(), IFLA_LINKINFO);
    nla_put_string(message.get(), kind, "bond");
    const Nest data(message.get(), options);
    put(message.get());
    return message;
}

TEST(BondLacpMessage, has_the_system_and_its_ports) {
    lacp::BondSystem system;
    auto of_bond = about(bond, IFLA_INFO_KIND, IFLA_INFO_DATA, [](nl_msg* message) {
        nla_put_u8(message, IFLA_BOND_AD_LACP_RATE, 1);
        nla_put_u16(message, IFLA_BOND_AD_ACTOR_SYS_PRIO, 100);
        const Nest active(message, IFLA_BOND_AD_INFO);
        nla_put_u16(message, IFLA_BOND_AD_INFO_AGGREGATOR, 3);
        nla_put_u16(message, IFLA_BOND_AD_INFO_PARTNER_KEY, 9);
    });
    add_bond_lacp(nlmsg_hdr(of_bond.get()), bond, system);
    EXPECT_TRUE(system.fast_rate);
    EXPECT_FALSE(system.active);
    EXPECT_EQ(100, system.actor.priority);
    EXPECT_EQ((MacAddress{{2, 0, 0, 0, 0, 7}}), system.actor.address) << "that of the bond";
    EXPECT_EQ(3U, system.aggregator);
    EXPECT_EQ(9, system.partner_key);
    auto of_slave = about(slave, IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA, [](nl_msg* message) {
        nla_put_u16(message, IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, 3);
        nla_put_u8(message, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, 0x3d);
        nla_put_u16(message, IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE, 0x3f);
    });
    add_bond_lacp(nlmsg_hdr(of_slave.get()), IfIndex{9}, system);
    EXPECT_TRUE(system.ports.empty()) << "a slave of another bond";
    add_bond_lacp(nlmsg_hdr(of_slave.get()), bond, system);
    EXPECT_EQ((lacp::BondPort{.aggregator = 3, .actor_state = 0x3d, .partner_state = 0x3f}),
              system.ports[slave]);
}

} // namespace
} // namespace teamo
