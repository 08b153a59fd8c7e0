// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/hardware_addresses.h"

#include "kernel/netlink/netlink_socket.h"

#include <gmock/gmock.h>
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
    const auto message = make_message(entry.type, 0);
    ndmsg header{};
    header.ndm_family = entry.family;
    header.ndm_ifindex = 12;
    header.ndm_flags = entry.flags;
    nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
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

} // namespace
} // namespace teamo
