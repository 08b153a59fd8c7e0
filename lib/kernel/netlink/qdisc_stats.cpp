// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/qdisc_stats.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include <algorithm>
#include <new>

namespace teamo {
namespace {

NlMessage dump_request() {
    auto message = make_message(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP);
    tcmsg header{};
    header.tcm_family = AF_UNSPEC;
    if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    return message;
}

/// Copies a struct of the kernel that may be shorter or longer than ours.
template <class Struct>
Struct copy_of(const nlattr* attribute) {
    Struct value{};
    if (attribute != nullptr)
        std::copy_n(static_cast<const std::byte*>(nla_data(attribute)),
                    std::min(static_cast<std::size_t>(nla_len(attribute)), sizeof value),
                    reinterpret_cast<std::byte*>(&value));
    return value;
}

void take(const nlmsghdr* message, std::map<IfIndex, QueueCounters>& queues) {
    if (message->nlmsg_type != RTM_NEWQDISC || nlmsg_datalen(message) < static_cast<int>(sizeof(tcmsg)))
        return;
    const auto* header = static_cast<const tcmsg*>(nlmsg_data(message));
    if (header->tcm_parent != TC_H_ROOT) return; // the root includes its classes
    auto* stats = nlmsg_find_attr(const_cast<nlmsghdr*>(message), sizeof(tcmsg), TCA_STATS2);
    if (stats == nullptr) return;
    auto* first = static_cast<nlattr*>(nla_data(stats));
    const auto queue = copy_of<gnet_stats_queue>(nla_find(first, nla_len(stats), TCA_STATS_QUEUE));
    const auto basic = copy_of<gnet_stats_basic>(nla_find(first, nla_len(stats), TCA_STATS_BASIC));
    queues[IfIndex{static_cast<std::uint32_t>(header->tcm_ifindex)}] = {
        .backlog = queue.backlog, .sent = basic.bytes, .dropped = queue.drops};
}

} // namespace

Result<std::map<IfIndex, QueueCounters>> read_queues(NetlinkSocket& socket) {
    std::map<IfIndex, QueueCounters> queues;
    auto read = socket.dump([] { return dump_request(); },
                            [&queues](const nlmsghdr* message) { take(message, queues); },
                            [&queues] { queues.clear(); });
    if (!read) return within("queues", std::move(read.error()));
    return queues;
}

} // namespace teamo
