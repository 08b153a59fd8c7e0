// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/addresses.h"

#include "kernel/netlink/netlink_socket.h"

#include <gmock/gmock.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <sys/socket.h>

namespace teamo {
namespace {

using testing::Optional;

constexpr MacAddress mac{{2, 0, 0, 0, 0, 7}};

struct Entry {
    int type = RTM_NEWNEIGH;
    std::uint8_t family = PF_BRIDGE, flags = NTF_SELF;
    int length = 6;
};

std::optional<HardwareAddress> parsed(const Entry& entry) {
    ndmsg header{};
    header.ndm_family = entry.family;
    header.ndm_ifindex = 12;
    header.ndm_flags = entry.flags;
    const auto message = make_message(entry.type, 0, header);
    if (entry.length > 0) nla_put(message.get(), NDA_LLADDR, entry.length, mac.bytes.data());
    return parse_hardware_address(nlmsg_hdr(message.get()));
}

TEST(HardwareAddress, reads_own_entry_of_device) {
    EXPECT_THAT(parsed({}), Optional(HardwareAddress{.device = IfIndex{12}, .address = mac}));
}

TEST(HardwareAddress, ignores_learned_entries_and_other_messages) {
    EXPECT_EQ(parsed({.flags = 0}), std::nullopt);
    EXPECT_EQ(parsed({.family = AF_INET}), std::nullopt);
    EXPECT_EQ(parsed({.type = RTM_DELNEIGH}), std::nullopt);
    EXPECT_EQ(parsed({.type = RTM_NEWLINK}), std::nullopt);
    EXPECT_EQ(parsed({.length = 0}), std::nullopt);
    EXPECT_EQ(parsed({.length = 4}), std::nullopt);
    const auto cut = make_message(RTM_NEWNEIGH, 0);
    EXPECT_EQ(parse_hardware_address(nlmsg_hdr(cut.get())), std::nullopt);
}

std::optional<Neighbour> neighbour(unsigned state, int mac_length) {
    ndmsg header{};
    header.ndm_family = AF_INET;
    header.ndm_ifindex = 7;
    header.ndm_state = static_cast<__u16>(state);
    const auto message = make_message(RTM_NEWNEIGH, 0, header);
    const auto ip = *parse_ip("10.0.0.2");
    nla_put(message.get(), NDA_DST, static_cast<int>(ip.size()), ip.bytes.data());
    if (mac_length > 0) nla_put(message.get(), NDA_LLADDR, mac_length, mac.bytes.data());
    return parse_neighbour(nlmsg_hdr(message.get()));
}

TEST(Neighbours, are_those_whose_hardware_address_is_known) {
    const Neighbour known{.device = IfIndex{7}, .address = *parse_ip("10.0.0.2"), .mac = mac};
    EXPECT_EQ(neighbour(NUD_REACHABLE, 6), known);
    EXPECT_EQ(neighbour(NUD_STALE, 6), known);
    EXPECT_EQ(neighbour(NUD_PERMANENT, 6), known);
    EXPECT_EQ(neighbour(NUD_FAILED, 6), std::nullopt);
    EXPECT_EQ(neighbour(NUD_INCOMPLETE, 0), std::nullopt);
    EXPECT_EQ(neighbour(NUD_NOARP, 4), std::nullopt) << "no Ethernet";
}

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

TEST(AddressList, is_empty_if_a_veth_that_is_up_is_not_promiscuous) {
    Link veth;
    veth.kind = "veth";
    EXPECT_TRUE(may_list_addresses(veth)) << "it is down";
    veth.flags = IFF_UP;
    EXPECT_FALSE(may_list_addresses(veth));
    veth.promiscuity = 1;
    EXPECT_TRUE(may_list_addresses(veth));
    veth.promiscuity = 0;
    veth.kind = "netkit";
    EXPECT_TRUE(may_list_addresses(veth)) << "it may filter";
}

} // namespace
} // namespace teamo
