// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/nftables.h"

#include "kernel/netlink/netlink_socket.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

namespace teamo {

Result<std::size_t> count_nftables_rules() {
    constexpr int get = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETRULE,
                  rule = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_NEWRULE;
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_NETFILTER));
    std::size_t count = 0;
    TEAMO_TRY(socket.dump(
        [] {
            return make_message(get, NLM_F_DUMP,
                                nfgenmsg{.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = 0});
        },
        [&count](const nlmsghdr* message) { count += message->nlmsg_type == rule ? 1 : 0; },
        [&count] { count = 0; }));
    return count;
}

} // namespace teamo
