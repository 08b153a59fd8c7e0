// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/counters.h"

#include <gtest/gtest.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace teamo {
namespace {

/// Of the root qdisc of device 7. `more`: the counter with 64 bits, which the kernel adds if 32 are too few.
DeviceQueues queues_with(const char* kind, std::uint32_t packets, std::optional<std::uint64_t> more) {
    tcmsg header{};
    header.tcm_ifindex = 7;
    header.tcm_parent = TC_H_ROOT;
    auto message = make_message(RTM_NEWQDISC, 0, header);
    nla_put_string(message.get(), TCA_KIND, kind);
    auto* stats = nla_nest_start(message.get(), TCA_STATS2);
    gnet_stats_basic basic{};
    basic.bytes = 1'000;
    basic.packets = packets;
    nla_put(message.get(), TCA_STATS_BASIC, sizeof basic, &basic);
    if (more) nla_put_u64(message.get(), TCA_STATS_PKT64, *more);
    nla_nest_end(message.get(), stats);
    DeviceQueues queues;
    add_queue(nlmsg_hdr(message.get()), queues);
    return queues;
}

QueueCounters queue_with(std::uint32_t packets, std::optional<std::uint64_t> more) {
    return queues_with("fq_codel", packets, more).counters[IfIndex{7}];
}

TEST(NetlinkMessage, reads_all_bits_of_a_queues_packets) {
    constexpr std::uint64_t beyond = (std::uint64_t{1} << 32) + 5;
    EXPECT_EQ(queue_with(4, std::nullopt), (QueueCounters{.sent = 1'000, .packets = 4}));
    EXPECT_EQ(queue_with(5, beyond).packets, beyond);
}

TEST(NetlinkMessage, tells_which_device_has_no_queue) {
    EXPECT_TRUE(queues_with("fq_codel", 1, std::nullopt).without.empty());
    EXPECT_TRUE(queues_with("noqueue", 0, std::nullopt).without.contains(IfIndex{7}));
}

} // namespace
} // namespace teamo
