// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/nftables.h"

#include "kernel/netlink/netlink_socket.h"

#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

namespace teamo {
namespace {

constexpr int get_rule = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETRULE,
              new_rule = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_NEWRULE;

std::string nftables_family(unsigned family) {
    switch (family) {
    case NFPROTO_INET: return "inet";
    case NFPROTO_IPV4: return "ip";
    case NFPROTO_ARP: return "arp";
    case NFPROTO_NETDEV: return "netdev";
    case NFPROTO_BRIDGE: return "bridge";
    case NFPROTO_IPV6: return "ip6";
    default: return fmt::format("family {}", family);
    }
}

} // namespace

Result<NftablesRules> count_nftables_rules() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_NETFILTER));
    NftablesRules rules;
    TEAMO_TRY(socket.dump(
        [] {
            return make_message(get_rule, NLM_F_DUMP,
                                nfgenmsg{.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = 0});
        },
        [&rules](const nlmsghdr* message) { add_nftables_rule(message, rules); },
        [&rules] { rules.clear(); }));
    return rules;
}

void add_nftables_rule(const nlmsghdr* message, NftablesRules& rules) {
    const auto* header = header_in<nfgenmsg>(message, new_rule);
    if (header == nullptr) return;
    const auto table = text_in(attribute_in<nfgenmsg>(message, NFTA_RULE_TABLE));
    ++rules[fmt::format("{} {}", nftables_family(header->nfgen_family), table)];
}

} // namespace teamo
