// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/queue.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include <algorithm>
#include <new>

namespace teamo {
namespace {

NlMessage root_request(IfIndex index) {
    auto message = make_message(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ACK);
    tcmsg header{};
    header.tcm_family = AF_UNSPEC;
    header.tcm_ifindex = static_cast<int>(index.value);
    header.tcm_parent = TC_H_ROOT;
    if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    return message;
}

/// A struct of the kernel's that may be shorter or longer than ours.
template <class Struct>
Struct copy_of(const nlattr* attribute) {
    Struct value{};
    if (attribute != nullptr)
        std::copy_n(static_cast<const std::byte*>(nla_data(attribute)),
                    std::min(static_cast<std::size_t>(nla_len(attribute)), sizeof value),
                    reinterpret_cast<std::byte*>(&value));
    return value;
}

QueueCounters parse_queue(const nlmsghdr* message) {
    auto* stats = nlmsg_find_attr(const_cast<nlmsghdr*>(message), sizeof(tcmsg), TCA_STATS2);
    if (message->nlmsg_type != RTM_NEWQDISC || stats == nullptr) return {};
    auto* first = static_cast<nlattr*>(nla_data(stats));
    const auto queue = copy_of<gnet_stats_queue>(nla_find(first, nla_len(stats), TCA_STATS_QUEUE));
    const auto basic = copy_of<gnet_stats_basic>(nla_find(first, nla_len(stats), TCA_STATS_BASIC));
    return {.backlog = queue.backlog, .sent = basic.bytes, .dropped = queue.drops};
}

} // namespace

Result<QueueCounters> read_queue(NetlinkSocket& socket, IfIndex index) {
    QueueCounters counters;
    auto read = socket.dump([index] { return root_request(index); },
                            [&counters](const nlmsghdr* message) { counters = parse_queue(message); }, [] {});
    // No qdisc that has a name of its own: nothing waits there.
    if (!read && read.error().number != ENOENT) return tl::unexpected(read.error());
    return counters;
}

} // namespace teamo
