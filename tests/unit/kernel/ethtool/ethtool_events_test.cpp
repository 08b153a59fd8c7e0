// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/ethtool/ethtool_events.h"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>

namespace teamo {
namespace {

constexpr int some_family = 21;

NlMessage notification(std::uint8_t command) {
    auto message = make_message(0, 0);
    genlmsg_put(message.get(), 0, 0, some_family, 0, 0, command, ETHTOOL_GENL_VERSION);
    return message;
}

TEST(EthtoolEvent, reads_device_index) {
    const auto message = notification(ETHTOOL_MSG_FEATURES_NTF);
    auto* header = nla_nest_start(message.get(), ETHTOOL_A_FEATURES_HEADER);
    nla_put_u32(message.get(), ETHTOOL_A_HEADER_DEV_INDEX, 7);
    nla_put_string(message.get(), ETHTOOL_A_HEADER_DEV_NAME, "eth1");
    nla_nest_end(message.get(), header);
    EXPECT_EQ(IfIndex{7}, device_of_ethtool_event(nlmsg_hdr(message.get())));
}

TEST(EthtoolEvent, has_no_device_if_index_is_missing) {
    const auto bare = notification(ETHTOOL_MSG_FEATURES_NTF);
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(nlmsg_hdr(bare.get())));

    const auto no_index = notification(ETHTOOL_MSG_FEATURES_NTF);
    auto* header = nla_nest_start(no_index.get(), ETHTOOL_A_FEATURES_HEADER);
    nla_put_string(no_index.get(), ETHTOOL_A_HEADER_DEV_NAME, "eth1");
    nla_nest_end(no_index.get(), header);
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(nlmsg_hdr(no_index.get())));

    const auto short_index = notification(ETHTOOL_MSG_FEATURES_NTF);
    header = nla_nest_start(short_index.get(), ETHTOOL_A_FEATURES_HEADER);
    nla_put_u16(short_index.get(), ETHTOOL_A_HEADER_DEV_INDEX, 7);
    nla_nest_end(short_index.get(), header);
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(nlmsg_hdr(short_index.get())));

    auto* cut = nlmsg_hdr(bare.get());
    cut->nlmsg_len = NLMSG_HDRLEN + 2;
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(cut));
}

} // namespace
} // namespace teamo
