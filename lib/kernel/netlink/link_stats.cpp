// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/link_stats.h"

#include "kernel/netlink/attributes.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <optional>

namespace teamo {
namespace {

NlMessage stats_request(IfIndex index) {
    if_stats_msg header{};
    header.ifindex = index.value;
    header.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    return make_message(RTM_GETSTATS, NLM_F_REQUEST | NLM_F_ACK, header);
}

std::optional<PortCounters> parse_stats(const nlmsghdr* message) {
    const auto* attribute =
        nlmsg_find_attr(const_cast<nlmsghdr*>(message), sizeof(if_stats_msg), IFLA_STATS_LINK_64);
    if (message->nlmsg_type != RTM_NEWSTATS || attribute == nullptr) return std::nullopt;
    const auto stats = struct_in<rtnl_link_stats64>(attribute);
    return PortCounters{.tx_packets = stats.tx_packets,
                        .tx_bytes = stats.tx_bytes,
                        .rx_packets = stats.rx_packets,
                        .rx_bytes = stats.rx_bytes,
                        .rx_dropped = stats.rx_dropped};
}

} // namespace

Result<PortCounters> read_link_stats(NetlinkSocket& socket, IfIndex index) {
    std::optional<PortCounters> found;
    const auto take = [&found](const nlmsghdr* message) {
        if (auto stats = parse_stats(message)) found = stats;
    };
    TEAMO_TRY(socket.dump([index] { return stats_request(index); }, take, [] {}));
    if (!found) return fail(ENODATA, "the kernel reported no counters");
    return *found;
}

} // namespace teamo
