// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/links.h"

#include "base/whole_number.h"

#include <linux/if_link.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>

namespace teamo {
namespace {

// Not in the headers of older kernels, and so with names of our own: newer headers have an enum netkit_mode
// (include/uapi/linux/if_link.h, kernel 6.7).
constexpr int netkit_attribute_peer_info = 1; // IFLA_NETKIT_PEER_INFO
constexpr int netkit_attribute_policy = 3;    // IFLA_NETKIT_POLICY, for the team's end
constexpr int netkit_attribute_mode = 5;      // IFLA_NETKIT_MODE
constexpr std::uint32_t netkit_l2 = 0, netkit_drop = 2;
constexpr int attribute_gso_ipv4_max_size = 63; // IFLA_GSO_IPV4_MAX_SIZE, kernel 6.3
// include/net/bonding.h
constexpr std::uint8_t bond_link_up = 0, bond_link_fail = 1;
constexpr std::uint8_t bond_slave_backup = 1; // BOND_STATE_BACKUP
constexpr int last_attribute = std::max<int>(attribute_gso_ipv4_max_size, IFLA_MAX);

using Attributes = std::array<nlattr*, last_attribute + 1>;

/// Whether bonding uses the link of its slave, which it checks every miimon interval; true if it is no slave.
bool bond_uses(const nlattr* slave) {
    const auto now = number_in<std::uint8_t>(attribute_in(slave, IFLA_BOND_SLAVE_MII_STATUS));
    return !now || *now == bond_link_up || *now == bond_link_fail;
}

std::optional<BondPolicy> bond_policy_in(const nlattr* bond) {
    const auto policy = number_in<std::uint8_t>(attribute_in(bond, IFLA_BOND_XMIT_HASH_POLICY));
    if (!policy || *policy >= enum_names<BondPolicy>.size()) return std::nullopt;
    return static_cast<BondPolicy>(*policy);
}

void put_policy(nl_msg* message, BondPolicy policy) {
    nla_put_u8(message, IFLA_BOND_XMIT_HASH_POLICY, static_cast<std::uint8_t>(policy));
}

std::vector<std::string> altnames_of(const nlattr* list) {
    std::vector<std::string> names;
    each_in(list, [&](const nlattr* entry) {
        if (nla_type(entry) == IFLA_ALT_IFNAME) names.push_back(text_in(entry));
    });
    return names;
}

/// `attributes`: those of IPv6 about a device. A device without them has no IPv6.
bool has_ipv6(const nlattr* attributes) {
    const auto* settings = attribute_in(attributes, IFLA_INET6_CONF);
    constexpr std::size_t at = DEVCONF_DISABLE_IPV6 * sizeof(std::int32_t);
    std::int32_t disabled = 1;
    if (settings == nullptr || static_cast<std::size_t>(nla_len(settings)) < at + sizeof disabled)
        return false;
    std::memcpy(&disabled, static_cast<const std::byte*>(nla_data(settings)) + at, sizeof disabled);
    return disabled == 0;
}

void put_address(nl_msg* message, const MacAddress& address) {
    nla_put(message, IFLA_ADDRESS, static_cast<int>(address.bytes.size()), address.bytes.data());
}

void put_text(nl_msg* message, int type, std::string_view text) {
    const std::string terminated(text);
    if (nla_put_string(message, type, terminated.c_str()) < 0) throw std::bad_alloc();
}

/// A message about one device; `extra` flags as RTM_NEWLINK takes them.
NlMessage link_message(int type, IfIndex index, int extra, std::uint32_t flags = 0, std::uint32_t mask = 0) {
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(index.value);
    header.ifi_flags = flags;
    header.ifi_change = mask;
    return make_message(type, NLM_F_REQUEST | extra, header);
}

/// Creates a device. All zero: the kernel chooses the address.
NlMessage new_link_message(std::string_view name, const MacAddress& address) {
    auto message = link_message(RTM_NEWLINK, IfIndex{}, NLM_F_CREATE | NLM_F_EXCL);
    put_text(message.get(), IFLA_IFNAME, name);
    if (!address.is_zero()) put_address(message.get(), address);
    return message;
}

void put_bond_options(nl_msg* message, const BondSetup& setup) {
    nla_put_u32(message, IFLA_BOND_MIIMON, static_cast<std::uint32_t>(setup.miimon.count()));
    for (const int delay : {IFLA_BOND_UPDELAY, IFLA_BOND_DOWNDELAY})
        nla_put_u32(message, delay, 0);
    nla_put_u32(message, IFLA_BOND_MIN_LINKS, setup.min_links);
    put_policy(message, setup.policy);
    if (setup.mode == bond_mode_active_backup) { // the runner chooses, and a backup delivers nothing
        nla_put_u32(message, IFLA_BOND_PRIMARY, 0);
        nla_put_u8(message, IFLA_BOND_ALL_SLAVES_ACTIVE, 0);
    }
}

/// ad_select (drivers/net/bonding/bond_3ad.h: BOND_AD_STABLE, ...). Bonding prefers no aggregator by the
/// priorities of one port.
std::uint8_t selection_of(AggSelectPolicy policy) {
    if (policy == AggSelectPolicy::lacp_prio_stable) return 0;
    return policy == AggSelectPolicy::count ? 2 : 1; // by bandwidth
}

/// A kernel ignores attributes that it does not know.
void put_lacp_options(nl_msg* message, const LacpRunner& lacp) {
    constexpr int coupled_control = 32; // IFLA_BOND_COUPLED_CONTROL, Linux 6.9
    constexpr int lacp_strict = 34;     // IFLA_BOND_LACP_STRICT, Linux 7.x
    nla_put_u8(message, IFLA_BOND_AD_LACP_ACTIVE, lacp.active ? 1 : 0);
    nla_put_u8(message, IFLA_BOND_AD_LACP_RATE, lacp.fast_rate ? 1 : 0);
    nla_put_u8(message, IFLA_BOND_AD_SELECT, selection_of(lacp.agg_select_policy));
    nla_put_u16(message, IFLA_BOND_AD_ACTOR_SYS_PRIO, std::max<std::uint16_t>(lacp.sys_prio, 1));
    nla_put_u8(message, coupled_control, 0); // a port may collect before it distributes
    nla_put_u8(message, lacp_strict, lacp.fallback == LacpFallback::none ? 1 : 0);
    if (lacp.system)
        nla_put(message, IFLA_BOND_AD_ACTOR_SYSTEM, static_cast<int>(lacp.system->bytes.size()),
                lacp.system->bytes.data());
}

/// Changes options of a bond or of its slave: only RTM_NEWLINK can change those (net/core/rtnetlink.c).
template <class PutData>
NlMessage options_message(IfIndex device, int kind, int options, const PutData& put_data) {
    auto message = link_message(RTM_NEWLINK, device, 0);
    {
        const Nest info(message.get(), IFLA_LINKINFO);
        put_text(message.get(), kind, bond_kind);
        const Nest data(message.get(), options);
        put_data(message.get());
    }
    return message;
}

template <class PutData>
NlMessage bond_message(IfIndex bond, const PutData& put_data) {
    return options_message(bond, IFLA_INFO_KIND, IFLA_INFO_DATA, put_data);
}

template <class PutData>
NlMessage bond_slave_message(IfIndex slave, const PutData& put_data) {
    return options_message(slave, IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA, put_data);
}

template <class Put>
Result<> change(NetlinkSocket& socket, IfIndex index, const Put& put) {
    auto message = link_message(RTM_SETLINK, index, 0);
    put(message.get());
    return socket.request(std::move(message));
}

NlMessage altname_message(int type, int extra, IfIndex index, std::string_view altname) {
    auto message = link_message(type, index, extra);
    const Nest list(message.get(), IFLA_PROP_LIST);
    put_text(message.get(), IFLA_ALT_IFNAME, altname);
    return message;
}

} // namespace

std::optional<Link> parse_link(const nlmsghdr* message) {
    if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) return std::nullopt;
    Attributes attributes{};
    if (nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(ifinfomsg), attributes.data(), last_attribute,
                    nullptr) < 0)
        return std::nullopt;
    const auto* header = static_cast<const ifinfomsg*>(nlmsg_data(message));
    // The group also has messages of bridges about their ports (AF_BRIDGE), and wireless events with a name
    // only: neither has the device's state.
    if (header->ifi_family != AF_UNSPEC || attributes[IFLA_MTU] == nullptr) return std::nullopt;

    const auto number = [&](std::size_t type) { return number_in(attributes[type]).value_or(0); };
    Link link;
    link.index = IfIndex{static_cast<std::uint32_t>(header->ifi_index)};
    link.name = text_in(attributes[IFLA_IFNAME]);
    link.address = mac_in(attributes[IFLA_ADDRESS]).value_or(MacAddress{});
    link.permanent_address = mac_in(attributes[IFLA_PERM_ADDRESS]);
    link.mtu = number(IFLA_MTU);
    link.flags = header->ifi_flags;
    link.type = header->ifi_type;
    const auto* info = attributes[IFLA_LINKINFO];
    link.kind = text_in(attribute_in(info, IFLA_INFO_KIND));
    if (link.kind == "vlan")
        link.vlan = number_in<std::uint16_t>(attribute_in(attribute_in(info, IFLA_INFO_DATA), IFLA_VLAN_ID))
                        .value_or(0);
    const auto *bond = bond_attributes_in(info), *slave = bond_slave_attributes_in(info);
    link.bond_mode = number_in<BondMode>(attribute_in(bond, IFLA_BOND_MODE));
    link.bond_policy = bond_policy_in(bond);
    link.bond_active = IfIndex{number_in(attribute_in(bond, IFLA_BOND_ACTIVE_SLAVE)).value_or(0)};
    link.bond_primary = IfIndex{number_in(attribute_in(bond, IFLA_BOND_PRIMARY)).value_or(0)};
    link.bond_down_delay = number_in(attribute_in(bond, IFLA_BOND_DOWNDELAY)).value_or(0);
    link.bond_arp_interval = number_in(attribute_in(bond, IFLA_BOND_ARP_INTERVAL)).value_or(0);
    link.bond_shares_address =
        number_in<std::uint8_t>(attribute_in(bond, IFLA_BOND_FAIL_OVER_MAC)).value_or(0) == 0;
    link.bond_takes_all =
        number_in<std::uint8_t>(attribute_in(bond, IFLA_BOND_ALL_SLAVES_ACTIVE)).value_or(0) != 0;
    link.bond_prio =
        static_cast<std::int32_t>(number_in(attribute_in(slave, IFLA_BOND_SLAVE_PRIO)).value_or(0));
    link.bond_uses_link = bond_uses(slave);
    link.bond_backup = number_in<std::uint8_t>(attribute_in(slave, IFLA_BOND_SLAVE_STATE)) ==
                       std::optional(bond_slave_backup);
    link.master = IfIndex{number(IFLA_MASTER)};
    link.lower = IfIndex{number(IFLA_LINK)};
    link.lower_elsewhere = attributes[IFLA_LINK_NETNSID] != nullptr;
    const auto xdp = number_in<std::uint8_t>(attribute_in(attributes[IFLA_XDP], IFLA_XDP_ATTACHED));
    link.has_xdp = xdp.value_or(XDP_ATTACHED_NONE) != XDP_ATTACHED_NONE;
    link.promiscuity = number(IFLA_PROMISCUITY);
    link.ipv6 = has_ipv6(attribute_in(attributes[IFLA_AF_SPEC], AF_INET6));
    link.carrier_losses = number(IFLA_CARRIER_DOWN_COUNT);
    link.gso_max = {number(IFLA_GSO_MAX_SIZE), number(IFLA_GSO_MAX_SEGS),
                    number(attribute_gso_ipv4_max_size)};
    link.tso_max = {number(IFLA_TSO_MAX_SIZE), number(IFLA_TSO_MAX_SEGS), number(IFLA_TSO_MAX_SIZE)};
    link.alias = text_in(attributes[IFLA_IFALIAS]);
    link.altnames = altnames_of(attributes[IFLA_PROP_LIST]);
    return link;
}

std::optional<Ipv6Event> parse_ipv6_event(const nlmsghdr* message) {
    if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) return std::nullopt;
    if (nlmsg_valid_hdr(message, sizeof(ifinfomsg)) == 0) return std::nullopt;
    const auto* header = static_cast<const ifinfomsg*>(nlmsg_data(message));
    if (header->ifi_family != AF_INET6) return std::nullopt;
    return Ipv6Event{.device = IfIndex{static_cast<std::uint32_t>(header->ifi_index)},
                     .on = message->nlmsg_type == RTM_NEWLINK &&
                           has_ipv6(attribute_in<ifinfomsg>(message, IFLA_PROTINFO))};
}

Result<LinkControl> LinkControl::open() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    return LinkControl(std::move(socket));
}

Result<> LinkControl::create_pair(std::string_view kind, std::string_view name, std::string_view inner,
                                  const MacAddress& address) {
    auto message = new_link_message(name, address);
    {
        const Nest info(message.get(), IFLA_LINKINFO);
        put_text(message.get(), IFLA_INFO_KIND, kind);
        const Nest data(message.get(), IFLA_INFO_DATA);
        const bool netkit = kind == "netkit";
        if (netkit) {
            nla_put_u32(message.get(), netkit_attribute_mode, netkit_l2);
            // Drop packets while there is no program: otherwise they would loop.
            nla_put_u32(message.get(), netkit_attribute_policy, netkit_drop);
        }
        const Nest peer(message.get(), netkit ? netkit_attribute_peer_info : VETH_INFO_PEER);
        ifinfomsg header{};
        if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
        put_text(message.get(), IFLA_IFNAME, inner);
    }
    return socket_.request(std::move(message));
}

Result<> LinkControl::create(std::string_view kind, std::string_view name, const MacAddress& address) {
    auto message = new_link_message(name, address);
    {
        const Nest info(message.get(), IFLA_LINKINFO);
        put_text(message.get(), IFLA_INFO_KIND, kind);
    }
    return socket_.request(std::move(message));
}

Result<> LinkControl::create_bond(std::string_view name, const MacAddress& address, const BondSetup& setup) {
    auto message = new_link_message(name, address);
    {
        const Nest info(message.get(), IFLA_LINKINFO);
        put_text(message.get(), IFLA_INFO_KIND, bond_kind);
        const Nest data(message.get(), IFLA_INFO_DATA);
        nla_put_u8(message.get(), IFLA_BOND_MODE, setup.mode);
        put_bond_options(message.get(), setup);
        if (setup.lacp) put_lacp_options(message.get(), *setup.lacp);
    }
    return socket_.request(std::move(message));
}

Result<> LinkControl::set_up_bond(IfIndex bond, const BondSetup& setup) {
    return socket_.request(
        bond_message(bond, [&setup](nl_msg* message) { put_bond_options(message, setup); }));
}

Result<> LinkControl::set_bond_policy(IfIndex bond, BondPolicy policy) {
    return socket_.request(bond_message(bond, [policy](nl_msg* message) { put_policy(message, policy); }));
}

Result<> LinkControl::set_bond_active(IfIndex bond, IfIndex slave) {
    return socket_.request(bond_message(
        bond, [slave](nl_msg* message) { nla_put_u32(message, IFLA_BOND_ACTIVE_SLAVE, slave.value); }));
}

Result<> LinkControl::set_bond_slave(IfIndex slave, const BondOptions& options) {
    const auto now = TEAMO_TRY(read_bond_options(slave));
    Failures failures;
    for (const auto& [type, option] : bond_slave_options) {
        const auto found = options.find(option);
        // bonding refuses an option that the bond's mode does not use, even with its present value.
        const auto present = now.find(option);
        if (found == options.end() || (present != now.end() && present->second == found->second)) continue;
        const auto value = whole_number<std::int32_t>(found->second);
        if (!value) continue;
        failures.add(socket_.request(bond_slave_message(slave, [type = type, value](nl_msg* message) {
            if (type == IFLA_BOND_SLAVE_PRIO)
                nla_put_s32(message, type, *value);
            else
                nla_put_u16(message, type, static_cast<std::uint16_t>(*value));
        })));
    }
    return failures.result();
}

Result<bool> LinkControl::knows_kind(std::string_view kind) {
    // "/" is never a valid name (dev_valid_name). The kernel first looks for the kind, loading its module,
    // and then refuses the name with EINVAL.
    auto made = create(kind, "/", MacAddress{});
    if (made) return fail(EPROTO, "the kernel created a device with an invalid name");
    if (made.error().number == EOPNOTSUPP) return false;
    if (made.error().number == EINVAL) return true;
    return tl::unexpected(std::move(made.error()));
}

Result<> LinkControl::remove(IfIndex index) { return socket_.request(link_message(RTM_DELLINK, index, 0)); }

Result<> LinkControl::set_address(IfIndex index, const MacAddress& address) {
    return change(socket_, index, [&](nl_msg* to) { put_address(to, address); });
}

Result<> LinkControl::set_mtu(IfIndex index, std::uint32_t mtu) {
    return change(socket_, index, [&](nl_msg* to) { nla_put_u32(to, IFLA_MTU, mtu); });
}

Result<> LinkControl::set_carrier(IfIndex index, bool carrier) {
    return change(socket_, index, [&](nl_msg* to) { nla_put_u8(to, IFLA_CARRIER, carrier ? 1 : 0); });
}

Result<> LinkControl::set_segment_limits(IfIndex index, const SegmentLimits& limits) {
    auto message = link_message(RTM_SETLINK, index, 0);
    nla_put_u32(message.get(), IFLA_GSO_MAX_SIZE, limits.size);
    nla_put_u32(message.get(), IFLA_GSO_MAX_SEGS, limits.segs);
    // After gso_max_size, which also sets this one (net/core/dev.h: netif_set_gso_max_size).
    if (limits.ipv4_size != 0) nla_put_u32(message.get(), attribute_gso_ipv4_max_size, limits.ipv4_size);
    return socket_.request(std::move(message));
}

Result<> LinkControl::set_flags(IfIndex index, std::uint32_t flags, std::uint32_t mask) {
    return socket_.request(link_message(RTM_SETLINK, index, 0, flags & mask, mask));
}

Result<> LinkControl::set_master(IfIndex index, IfIndex master) {
    return change(socket_, index, [&](nl_msg* to) { nla_put_u32(to, IFLA_MASTER, master.value); });
}

Result<> LinkControl::move_to(IfIndex index, int network_namespace) {
    return change(socket_, index, [&](nl_msg* to) {
        nla_put_u32(to, IFLA_NET_NS_FD, static_cast<std::uint32_t>(network_namespace));
    });
}

Result<> LinkControl::set_alias(IfIndex index, std::string_view alias) {
    return change(socket_, index, [&](nl_msg* to) {
        nla_put(to, IFLA_IFALIAS, static_cast<int>(alias.size()), alias.data());
    });
}

Result<> LinkControl::add_altname(IfIndex index, std::string_view altname) {
    return socket_.request(
        altname_message(RTM_NEWLINKPROP, NLM_F_CREATE | NLM_F_EXCL | NLM_F_APPEND, index, altname));
}

Result<> LinkControl::remove_altname(IfIndex index, std::string_view altname) {
    return socket_.request(altname_message(RTM_DELLINKPROP, 0, index, altname));
}

} // namespace teamo
