// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/qdisc_stats.h"

#include "kernel/netlink/attributes.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace teamo {
namespace {

void take(const nlmsghdr* message, std::map<IfIndex, QueueCounters>& queues) {
    if (message->nlmsg_type != RTM_NEWQDISC || nlmsg_datalen(message) < static_cast<int>(sizeof(tcmsg)))
        return;
    const auto* header = static_cast<const tcmsg*>(nlmsg_data(message));
    if (header->tcm_parent != TC_H_ROOT) return; // the root includes its classes
    auto* stats = nlmsg_find_attr(const_cast<nlmsghdr*>(message), sizeof(tcmsg), TCA_STATS2);
    if (stats == nullptr) return;
    auto* first = static_cast<nlattr*>(nla_data(stats));
    const auto queue = struct_in<gnet_stats_queue>(nla_find(first, nla_len(stats), TCA_STATS_QUEUE));
    const auto basic = struct_in<gnet_stats_basic>(nla_find(first, nla_len(stats), TCA_STATS_BASIC));
    queues[IfIndex{static_cast<std::uint32_t>(header->tcm_ifindex)}] = {
        .backlog = queue.backlog, .sent = basic.bytes, .dropped = queue.drops};
}

} // namespace

Result<std::map<IfIndex, QueueCounters>> read_queues(NetlinkSocket& socket) {
    std::map<IfIndex, QueueCounters> queues;
    auto read = socket.dump([] { return make_message(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, tcmsg{}); },
                            [&queues](const nlmsghdr* message) { take(message, queues); },
                            [&queues] { queues.clear(); });
    if (!read) return within("queues", std::move(read.error()));
    return queues;
}

} // namespace teamo
