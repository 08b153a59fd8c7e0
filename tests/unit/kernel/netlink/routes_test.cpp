// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/routes.h"

#include "kernel/netlink/links.h"
#include "kernel/netlink/netlink_socket.h"

#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <sys/socket.h>

namespace teamo {
namespace {

NlMessage route(int family, int type = RTM_NEWROUTE) {
    rtmsg header{};
    header.rtm_family = static_cast<unsigned char>(family);
    header.rtm_type = RTN_UNICAST;
    auto message = make_message(type, 0, header);
    nla_put_u32(message.get(), RTA_OIF, 7);
    return message;
}

void put(const NlMessage& message, int type, const char* address) {
    const auto ip = *parse_ip(address);
    nla_put(message.get(), type, static_cast<int>(ip.size()), ip.bytes.data());
}

std::optional<Route> parsed(const NlMessage& message) { return parse_route(nlmsg_hdr(message.get())); }

TEST(NetlinkMessage, reads_device_and_gateway_of_route) {
    EXPECT_EQ(parsed(route(AF_INET)),
              (Route{.device = IfIndex{7}, .gateway = std::nullopt, .type = RTN_UNICAST}));
    const auto by_v4 = route(AF_INET), by_v6 = route(AF_INET6);
    put(by_v4, RTA_GATEWAY, "10.0.0.254");
    EXPECT_EQ(parsed(by_v4)->gateway, parse_ip("10.0.0.254"));
    put(by_v6, RTA_GATEWAY, "fe80::1");
    EXPECT_EQ(parsed(by_v6)->gateway, parse_ip("fe80::1"));
    EXPECT_EQ(parsed(route(AF_INET, RTM_DELROUTE)), std::nullopt);
}

TEST(NetlinkMessage, reads_gateway_of_other_family) {
    const auto message = route(AF_INET);
    std::array<std::uint8_t, 2 + 16> via{};
    const std::uint16_t family = AF_INET6;
    std::memcpy(via.data(), &family, 2);
    const auto gateway = *parse_ip("fe80::1");
    std::copy(gateway.bytes.begin(), gateway.bytes.end(), via.begin() + 2);
    nla_put(message.get(), RTA_VIA, via.size(), via.data());
    EXPECT_EQ(parsed(message)->gateway, gateway);
    const auto cut = route(AF_INET);
    nla_put(cut.get(), RTA_VIA, 9, via.data());
    EXPECT_EQ(parsed(cut)->gateway, std::nullopt);
}

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

} // namespace
} // namespace teamo
