// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/bond_options.h"

#include "kernel/netlink/netlink_socket.h"
#include "model/observation.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace teamo {
namespace {

constexpr auto of_bonds = std::to_array<BondAttribute>({
    {IFLA_BOND_AD_LACP_ACTIVE, "lacp_active"},
    {IFLA_BOND_MISSED_MAX, "arp_missed_max"},
    {32 /* IFLA_BOND_COUPLED_CONTROL, Linux 6.9 */, "coupled_control"},
    {33 /* IFLA_BOND_BROADCAST_NEIGH, Linux 6.17 */, "broadcast_neighbor"},
    {34 /* IFLA_BOND_LACP_STRICT, Linux 7.x */, "lacp_strict"},
});

/// prio is the only one that is signed, and the only one of 32 bits.
std::string text_of_number(const nlattr* attribute) {
    switch (nla_len(attribute)) {
    case sizeof(std::uint8_t): return std::to_string(nla_get_u8(attribute));
    case sizeof(std::uint16_t): return std::to_string(nla_get_u16(attribute));
    case sizeof(std::int32_t): return std::to_string(nla_get_s32(attribute));
    default: return {};
    }
}

std::string targets_in(const nlattr* list) {
    std::string targets;
    each_in(list, [&](const nlattr* entry) {
        if (const auto target = ip_in(entry, AF_INET6))
            targets += (targets.empty() ? "" : ",") + text_of(*target);
    });
    return targets;
}

} // namespace

const nlattr* bond_attributes_in(const nlattr* info) {
    if (text_in(attribute_in(info, IFLA_INFO_KIND)) != bond_kind) return nullptr;
    return attribute_in(info, IFLA_INFO_DATA);
}

const nlattr* bond_slave_attributes_in(const nlattr* info) {
    if (text_in(attribute_in(info, IFLA_INFO_SLAVE_KIND)) != bond_kind) return nullptr;
    return attribute_in(info, IFLA_INFO_SLAVE_DATA);
}

void add_bond_options(const nlmsghdr* message, BondOptions& options) {
    if (header_in<ifinfomsg>(message, RTM_NEWLINK) == nullptr) return;
    const auto* info = attribute_in<ifinfomsg>(message, IFLA_LINKINFO);
    const auto add = [&](const nlattr* data, std::span<const BondAttribute> attributes) {
        for (const auto& [type, option] : attributes)
            if (const auto* found = attribute_in(data, type)) options[option] = text_of_number(found);
    };
    if (const auto* data = bond_attributes_in(info)) {
        add(data, of_bonds);
        if (auto targets = targets_in(attribute_in(data, IFLA_BOND_NS_IP6_TARGET)); !targets.empty())
            options["ns_ip6_target"] = std::move(targets);
    }
    if (const auto* data = bond_slave_attributes_in(info)) add(data, bond_slave_options);
}

Result<BondOptions> read_bond_options(IfIndex device) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(device.value);
    const auto make = [&] { return make_message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK, header); };
    return socket.collect<BondOptions>(make, add_bond_options);
}

} // namespace teamo
