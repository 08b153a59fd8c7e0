// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/nftables.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

namespace teamo {
namespace {

constexpr int type_of(int message) { return (NFNL_SUBSYS_NFTABLES << 8) | message; }
constexpr int get_rule = type_of(NFT_MSG_GETRULE), new_rule = type_of(NFT_MSG_NEWRULE);

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

NlMessage netdev_message(int message, int flags) {
    return make_message(type_of(message), NLM_F_REQUEST | flags,
                        nfgenmsg{.nfgen_family = NFPROTO_NETDEV, .version = NFNETLINK_V0, .res_id = 0});
}

/// After all others, at the hook "ingress".
constexpr std::uint32_t last_priority = 500;

NlMessage table_message(int message, const std::string& table) {
    auto made = netdev_message(message, message == NFT_MSG_NEWTABLE ? NLM_F_CREATE : 0);
    nla_put_string(made.get(), NFTA_TABLE_NAME, table.c_str());
    return made;
}

NlMessage chain_message(const std::string& table, const ForwardChain& chain) {
    auto message = netdev_message(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    auto* to = message.get();
    nla_put_string(to, NFTA_CHAIN_TABLE, table.c_str());
    nla_put_string(to, NFTA_CHAIN_NAME, chain.device.c_str());
    nla_put_string(to, NFTA_CHAIN_TYPE, "filter");
    const Nest hook(to, NFTA_CHAIN_HOOK);
    nla_put_u32(to, NFTA_HOOK_HOOKNUM, htonl(NF_NETDEV_INGRESS));
    nla_put_u32(to, NFTA_HOOK_PRIORITY, htonl(last_priority));
    nla_put_string(to, NFTA_HOOK_DEV, chain.device.c_str());
    return message;
}

/// The expressions of a rule, which compare and load register 1.
class Expressions {
public:
    explicit Expressions(nl_msg* message) : message_(message) {}

    /// Bytes of the Ethernet header.
    void load(std::uint32_t offset, std::uint32_t length) {
        add("payload", [&] {
            number(NFTA_PAYLOAD_DREG, NFT_REG_1);
            number(NFTA_PAYLOAD_BASE, NFT_PAYLOAD_LL_HEADER);
            number(NFTA_PAYLOAD_OFFSET, offset);
            number(NFTA_PAYLOAD_LEN, length);
        });
    }
    template <class Bytes>
    void mask(const Bytes& bits) {
        add("bitwise", [&] {
            number(NFTA_BITWISE_SREG, NFT_REG_1);
            number(NFTA_BITWISE_DREG, NFT_REG_1);
            number(NFTA_BITWISE_LEN, sizeof bits);
            data(NFTA_BITWISE_MASK, bits);
            data(NFTA_BITWISE_XOR, Bytes{});
        });
    }
    /// The rule ends if the register has these bytes.
    template <class Bytes>
    void unless(const Bytes& bytes) {
        add("cmp", [&] {
            number(NFTA_CMP_SREG, NFT_REG_1);
            number(NFTA_CMP_OP, NFT_CMP_NEQ);
            data(NFTA_CMP_DATA, bytes);
        });
    }
    void forward(IfIndex device) {
        add("immediate", [&] {
            number(NFTA_IMMEDIATE_DREG, NFT_REG_1);
            data(NFTA_IMMEDIATE_DATA, device.value);
        });
        add("fwd", [&] { number(NFTA_FWD_SREG_DEV, NFT_REG_1); });
    }

private:
    template <class Fill>
    void add(const char* name, const Fill& fill) {
        const Nest expression(message_, NFTA_LIST_ELEM);
        nla_put_string(message_, NFTA_EXPR_NAME, name);
        const Nest content(message_, NFTA_EXPR_DATA);
        fill();
    }
    void number(int type, std::size_t value) {
        nla_put_u32(message_, type, htonl(static_cast<std::uint32_t>(value)));
    }
    template <class Bytes>
    void data(int type, const Bytes& bytes) {
        const Nest value(message_, type);
        nla_put(message_, NFTA_DATA_VALUE, sizeof bytes, &bytes);
    }
    nl_msg* message_;
};

NlMessage rule_message(const std::string& table, const ForwardChain& chain) {
    auto message = netdev_message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    auto* to = message.get();
    nla_put_string(to, NFTA_RULE_TABLE, table.c_str());
    nla_put_string(to, NFTA_RULE_CHAIN, chain.device.c_str());
    const Nest expressions(to, NFTA_RULE_EXPRESSIONS);
    Expressions rule(to);
    rule.load(0, ETH_ALEN);
    rule.mask(std::array<std::uint8_t, ETH_ALEN>{0xff, 0xff, 0xff, 0xff, 0xff, 0xf0});
    rule.unless(std::array<std::uint8_t, ETH_ALEN>{0x01, 0x80, 0xc2, 0, 0, 0});
    rule.load(2 * ETH_ALEN, sizeof chain.left_protocol);
    rule.unless(htons(std::uint16_t{ETH_P_PAE})); // IEEE 802.1X
    if (chain.left_protocol != 0) rule.unless(htons(chain.left_protocol));
    rule.forward(chain.to);
    return message;
}

} // namespace

Result<> replace_forward_table(NetlinkSocket& socket, const std::string& table,
                               const std::vector<ForwardChain>& chains) {
    // Made first, because a table that is not there cannot be removed.
    std::vector<NlMessage> messages;
    messages.push_back(table_message(NFT_MSG_NEWTABLE, table));
    messages.push_back(table_message(NFT_MSG_DELTABLE, table));
    if (!chains.empty()) messages.push_back(table_message(NFT_MSG_NEWTABLE, table));
    for (const auto& chain : chains) {
        messages.push_back(chain_message(table, chain));
        messages.push_back(rule_message(table, chain));
    }
    return socket.transaction(NFNL_SUBSYS_NFTABLES, std::move(messages));
}

Result<std::size_t> count_forward_rules(NetlinkSocket& socket, const std::string& table) {
    const auto make = [&table] {
        auto message = netdev_message(NFT_MSG_GETRULE, NLM_F_DUMP);
        nla_put_string(message.get(), NFTA_RULE_TABLE, table.c_str());
        return message;
    };
    auto rules = socket.collect<NftablesRules>(make, add_nftables_rule);
    if (rules) return (*rules)["netdev " + table];
    if (rules.error().number == ENOENT) return std::size_t{0};
    return tl::unexpected(std::move(rules.error()));
}

Result<NftablesRules> count_nftables_rules() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_NETFILTER));
    const auto make = [] {
        return make_message(get_rule, NLM_F_DUMP,
                            nfgenmsg{.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = 0});
    };
    return socket.collect<NftablesRules>(make, add_nftables_rule);
}

void add_nftables_rule(const nlmsghdr* message, NftablesRules& rules) {
    const auto* header = header_in<nfgenmsg>(message, new_rule);
    if (header == nullptr) return;
    const auto table = text_in(attribute_in<nfgenmsg>(message, NFTA_RULE_TABLE));
    ++rules[fmt::format("{} {}", nftables_family(header->nfgen_family), table)];
}

} // namespace teamo
