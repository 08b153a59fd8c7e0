// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/counters.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace teamo {
namespace {

Result<rtnl_link_stats64> read_stats(NetlinkSocket& socket, IfIndex index) {
    if_stats_msg header{};
    header.ifindex = index.value;
    header.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    const auto make = [&] { return make_message(RTM_GETSTATS, NLM_F_REQUEST, header); };
    const auto found = TEAMO_TRY(socket.list(make, parse_stats));
    if (found.empty()) return fail(ENODATA, "the kernel reported no counters");
    return found.back();
}

} // namespace

std::optional<rtnl_link_stats64> parse_stats(const nlmsghdr* message) {
    const auto* attribute = attribute_in<if_stats_msg>(message, IFLA_STATS_LINK_64);
    if (message->nlmsg_type != RTM_NEWSTATS || attribute == nullptr) return std::nullopt;
    return struct_in<rtnl_link_stats64>(attribute);
}

void add_queue(const nlmsghdr* message, DeviceQueues& queues) {
    const auto* header = header_in<tcmsg>(message, RTM_NEWQDISC);
    if (header == nullptr || header->tcm_parent != TC_H_ROOT) return; // the root includes its classes
    const IfIndex device{static_cast<std::uint32_t>(header->tcm_ifindex)};
    if (text_in(attribute_in<tcmsg>(message, TCA_KIND)) == "noqueue") queues.without.insert(device);
    const auto* stats = attribute_in<tcmsg>(message, TCA_STATS2);
    if (stats == nullptr) return;
    const auto queue = struct_in<gnet_stats_queue>(attribute_in(stats, TCA_STATS_QUEUE));
    const auto basic = struct_in<gnet_stats_basic>(attribute_in(stats, TCA_STATS_BASIC));
    // The basic counter has 32 bits. Beyond them there is one with 64 (net/core/gen_stats.c:
    // gnet_stats_copy_basic).
    const auto* more = attribute_in(stats, TCA_STATS_PKT64);
    const auto packets = more == nullptr ? basic.packets : struct_in<std::uint64_t>(more);
    queues.counters[device] = {
        .backlog = queue.backlog, .sent = basic.bytes, .packets = packets, .dropped = queue.drops};
}

Result<PortCounters> read_link_stats(NetlinkSocket& socket, IfIndex index) {
    const auto stats = TEAMO_TRY(read_stats(socket, index));
    return PortCounters{.tx_packets = stats.tx_packets,
                        .tx_bytes = stats.tx_bytes,
                        .rx_packets = stats.rx_packets,
                        .rx_bytes = stats.rx_bytes,
                        .rx_dropped = stats.rx_dropped};
}

Result<LinkErrors> read_link_errors(NetlinkSocket& socket, IfIndex index) {
    const auto stats = TEAMO_TRY(read_stats(socket, index));
    return LinkErrors{.rx_packets = stats.rx_packets,
                      .tx_packets = stats.tx_packets,
                      .rx_crc = stats.rx_crc_errors,
                      .rx_missed = stats.rx_missed_errors,
                      .tx = stats.tx_errors};
}

Result<DeviceQueues> read_queues(NetlinkSocket& socket) {
    const auto make = [] { return make_message(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, tcmsg{}); };
    return within("queues", socket.collect<DeviceQueues>(make, add_queue));
}

} // namespace teamo
