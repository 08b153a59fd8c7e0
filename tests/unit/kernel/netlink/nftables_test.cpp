// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/nftables.h"

#include "kernel/netlink/netlink_socket.h"

#include <gmock/gmock.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

namespace teamo {
namespace {

NlMessage nftables_message(int type, std::uint8_t family, const char* table) {
    auto message = make_message((NFNL_SUBSYS_NFTABLES << 8) | type, 0,
                                nfgenmsg{.nfgen_family = family, .version = NFNETLINK_V0, .res_id = 0});
    nla_put_string(message.get(), NFTA_RULE_TABLE, table);
    return message;
}

TEST(NetlinkMessage, counts_the_rules_of_each_table_of_nftables) {
    NftablesRules rules;
    const auto add = [&](int type, std::uint8_t family, const char* table) {
        add_nftables_rule(nlmsg_hdr(nftables_message(type, family, table).get()), rules);
    };
    add(NFT_MSG_NEWRULE, NFPROTO_INET, "filter");
    add(NFT_MSG_NEWRULE, NFPROTO_IPV4, "filter");
    add(NFT_MSG_NEWRULE, NFPROTO_INET, "filter");
    add(NFT_MSG_NEWRULE, NFPROTO_IPV6, "nat");
    add(NFT_MSG_NEWCHAIN, NFPROTO_IPV6, "nat");
    EXPECT_THAT(rules, testing::ElementsAre(testing::Pair("inet filter", 2), testing::Pair("ip filter", 1),
                                            testing::Pair("ip6 nat", 1)));
}

} // namespace
} // namespace teamo
