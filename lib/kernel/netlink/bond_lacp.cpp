// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/bond_lacp.h"

#include "kernel/netlink/bond_options.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/observation.h"

#include <net/if.h> // before linux/if.h, which the next one includes

#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace teamo {

void add_bond_lacp(const nlmsghdr* message, IfIndex bond, lacp::BondSystem& system) {
    const auto* header = header_in<ifinfomsg>(message, RTM_NEWLINK);
    if (header == nullptr) return;
    const IfIndex index{static_cast<std::uint32_t>(header->ifi_index)};
    const auto* info = attribute_in<ifinfomsg>(message, IFLA_LINKINFO);
    const auto small = [](const nlattr* nest, int type) {
        return number_in<std::uint16_t>(attribute_in(nest, type)).value_or(0);
    };
    const auto byte = [](const nlattr* nest, int type) {
        return number_in<std::uint8_t>(attribute_in(nest, type)).value_or(0);
    };
    if (const auto* data = bond_attributes_in(info); data != nullptr && index == bond) {
        const auto* active = attribute_in(data, IFLA_BOND_AD_INFO);
        system.actor.priority = small(data, IFLA_BOND_AD_ACTOR_SYS_PRIO);
        system.actor.address = mac_in(attribute_in(data, IFLA_BOND_AD_ACTOR_SYSTEM)).value_or(MacAddress{});
        if (system.actor.address.is_zero()) // then it is that of the bond
            system.actor.address =
                mac_in(attribute_in<ifinfomsg>(message, IFLA_ADDRESS)).value_or(MacAddress{});
        system.active = byte(data, IFLA_BOND_AD_LACP_ACTIVE) != 0;
        system.fast_rate = byte(data, IFLA_BOND_AD_LACP_RATE) != 0;
        system.aggregator = small(active, IFLA_BOND_AD_INFO_AGGREGATOR);
        system.actor_key = small(active, IFLA_BOND_AD_INFO_ACTOR_KEY);
        system.partner_key = small(active, IFLA_BOND_AD_INFO_PARTNER_KEY);
        system.partner = mac_in(attribute_in(active, IFLA_BOND_AD_INFO_PARTNER_MAC)).value_or(MacAddress{});
    }
    const auto master = number_in(attribute_in<ifinfomsg>(message, IFLA_MASTER));
    const auto* data = bond_slave_attributes_in(info);
    if (master != bond.value || data == nullptr) return;
    const auto partner_state = small(data, IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE);
    system.ports[index] = {.aggregator = small(data, IFLA_BOND_SLAVE_AD_AGGREGATOR_ID),
                           .actor_state = byte(data, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE),
                           .partner_state = static_cast<std::uint8_t>(partner_state)};
}

std::optional<lacp::FrameCounters> parse_bond_frames(const nlmsghdr* message) {
    if (message->nlmsg_type != RTM_NEWSTATS) return std::nullopt;
    const auto* of_slave = attribute_in<if_stats_msg>(message, IFLA_STATS_LINK_XSTATS_SLAVE);
    const auto* counters = attribute_in(attribute_in(of_slave, LINK_XSTATS_TYPE_BOND), BOND_XSTATS_3AD);
    if (counters == nullptr) return std::nullopt;
    const auto count = [counters](int type) {
        return number_in<std::uint64_t>(attribute_in(counters, type)).value_or(0);
    };
    return lacp::FrameCounters{.lacpdus_received = count(BOND_3AD_STAT_LACPDU_RX),
                               .lacpdus_sent = count(BOND_3AD_STAT_LACPDU_TX),
                               .markers_received = count(BOND_3AD_STAT_MARKER_RX),
                               .marker_responses_sent = count(BOND_3AD_STAT_MARKER_RESP_TX),
                               .unknown_received = count(BOND_3AD_STAT_LACPDU_UNKNOWN_RX),
                               .illegal_received = count(BOND_3AD_STAT_LACPDU_ILLEGAL_RX)};
}

Result<std::uint32_t> read_min_links(IfIndex bond) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(bond.value);
    const auto ask = [&] { return make_message(RTM_GETLINK, NLM_F_REQUEST, header); };
    const auto parse = [](const nlmsghdr* message) -> std::optional<std::uint32_t> {
        const auto* data = bond_attributes_in(attribute_in<ifinfomsg>(message, IFLA_LINKINFO));
        return data == nullptr ? std::nullopt : number_in(attribute_in(data, IFLA_BOND_MIN_LINKS));
    };
    const auto found = TEAMO_TRY(socket.list(ask, parse));
    if (found.empty()) return fail(ENODEV, "is no bond");
    return found.back();
}

Result<lacp::BondSystem> read_bond_lacp(IfIndex bond) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto make = [] { return make_message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, ifinfomsg{}); };
    const auto add = [bond](const nlmsghdr* message, lacp::BondSystem& system) {
        add_bond_lacp(message, bond, system);
    };
    auto system = TEAMO_TRY(socket.collect<lacp::BondSystem>(make, add));
    for (auto& [index, port] : system.ports) {
        if_stats_msg header{};
        header.ifindex = index.value;
        header.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_XSTATS_SLAVE);
        const auto ask = [&] { return make_message(RTM_GETSTATS, NLM_F_REQUEST, header); };
        const auto found = socket.list(ask, parse_bond_frames);
        if (found && !found->empty()) port.counters = found->back();
    }
    return system;
}

} // namespace teamo
