// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/ip_settings.h"

#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>

namespace teamo {
namespace {

constexpr std::uint32_t forever = 0xffffffff;
constexpr std::uint32_t clock_ticks = 100; // USER_HZ

std::vector<std::byte> bytes_of(const nlmsghdr* message) {
    const auto* first = reinterpret_cast<const std::byte*>(message);
    return {first, first + message->nlmsg_len};
}

const nlmsghdr* message_in(const std::vector<std::byte>& bytes) {
    return reinterpret_cast<const nlmsghdr*>(bytes.data());
}

template <class Header>
Header header_of(const nlmsghdr* message) {
    return *static_cast<const Header*>(nlmsg_data(message));
}

/// The attributes of a message that begins with `Header`.
template <class Header, class Take>
void each_attribute(const nlmsghdr* message, const Take& take) {
    auto* entry = nlmsg_attrdata(message, sizeof(Header));
    for (int rest = nlmsg_attrlen(message, sizeof(Header)); nla_ok(entry, rest) != 0;
         entry = nla_next(entry, &rest))
        take(entry);
}

void copy(nl_msg* to, const nlattr* attribute) {
    if (nla_put(to, nla_type(attribute), nla_len(attribute), nla_data(attribute)) < 0) throw std::bad_alloc();
}

/// RTA_MULTIPATH: replaces the device of each nexthop.
std::vector<std::byte> with_device(const nlattr* nexthops, IfIndex from, IfIndex to) {
    const auto* first = static_cast<const std::byte*>(nla_data(nexthops));
    std::vector<std::byte> bytes(first, first + nla_len(nexthops));
    for (std::size_t at = 0; at + sizeof(rtnexthop) <= bytes.size();) {
        auto* hop = reinterpret_cast<rtnexthop*>(bytes.data() + at);
        if (hop->rtnh_len < sizeof(rtnexthop)) break;
        if (hop->rtnh_ifindex == static_cast<int>(from.value)) hop->rtnh_ifindex = static_cast<int>(to.value);
        hop->rtnh_flags &= RTNH_F_ONLINK | RTNH_F_PERVASIVE;
        at += RTNH_ALIGN(hop->rtnh_len);
    }
    return bytes;
}

bool leads_to(const nlmsghdr* message, IfIndex device) {
    if (number_in(attribute_in<rtmsg>(message, RTA_OIF)) == device.value) return true;
    const auto* nexthops = attribute_in<rtmsg>(message, RTA_MULTIPATH);
    return nexthops != nullptr &&
           with_device(nexthops, device, IfIndex{0}) != with_device(nexthops, IfIndex{0}, IfIndex{0});
}

std::uint32_t flags_of(const nlmsghdr* address) {
    return number_in(attribute_in<ifaddrmsg>(address, IFA_FLAGS))
        .value_or(header_of<ifaddrmsg>(address).ifa_flags);
}

/// The kernel makes these itself (RFC 8981). The same bit is IFA_F_SECONDARY for IPv4.
bool is_temporary(const nlmsghdr* address) {
    return header_of<ifaddrmsg>(address).ifa_family == AF_INET6 && (flags_of(address) & IFA_F_TEMPORARY) != 0;
}

/// A nexthop object; the kernel shows its device and gateway too, and takes only one of both.
bool is_nexthop(int type) {
    return type == RTA_OIF || type == RTA_GATEWAY || type == RTA_VIA || type == RTA_MULTIPATH ||
           type == RTA_ENCAP || type == RTA_ENCAP_TYPE;
}

} // namespace

bool is_address_of(const nlmsghdr* message, IfIndex device) {
    const auto* header = header_in<ifaddrmsg>(message, RTM_NEWADDR);
    return header != nullptr && header->ifa_index == device.value && !is_temporary(message);
}

bool is_route_of(const nlmsghdr* message, IfIndex device) {
    if (header_in<rtmsg>(message, RTM_NEWROUTE) == nullptr) return false;
    const auto header = header_of<rtmsg>(message);
    if ((header.rtm_flags & RTM_F_CLONED) != 0 || header.rtm_type != RTN_UNICAST) return false;
    if (header.rtm_family != AF_INET && header.rtm_family != AF_INET6) return false;
    const auto table = number_in(attribute_in<rtmsg>(message, RTA_TABLE)).value_or(header.rtm_table);
    if (table == RT_TABLE_LOCAL) return false;
    const auto to = ip_in(attribute_in<rtmsg>(message, RTA_DST), header.rtm_family);
    return !(to && to->is_link_local()) && leads_to(message, device);
}

bool is_neighbour_of(const nlmsghdr* message, IfIndex device) {
    const auto* header = header_in<ndmsg>(message, RTM_NEWNEIGH);
    return header != nullptr && header->ndm_ifindex == static_cast<int>(device.value) &&
           (header->ndm_state & (NUD_INCOMPLETE | NUD_FAILED | NUD_NOARP)) == 0 &&
           mac_in(attribute_in<ndmsg>(message, NDA_LLADDR)).has_value();
}

NlMessage address_for(const nlmsghdr* message, IfIndex device) {
    auto header = header_of<ifaddrmsg>(message);
    constexpr std::uint32_t states =
        IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_OPTIMISTIC | IFA_F_PERMANENT | IFA_F_SECONDARY;
    const auto flags = (flags_of(message) & ~states) | IFA_F_NODAD;
    header.ifa_index = device.value;
    header.ifa_flags = static_cast<std::uint8_t>(flags);
    auto made = make_message(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE, header);
    each_attribute<ifaddrmsg>(message, [&](const nlattr* attribute) {
        // A label begins with the name of its device.
        if (nla_type(attribute) != IFA_LABEL && nla_type(attribute) != IFA_FLAGS) copy(made.get(), attribute);
    });
    nla_put_u32(made.get(), IFA_FLAGS, flags);
    return made;
}

NlMessage neighbour_for(const nlmsghdr* message, IfIndex device) {
    auto header = header_of<ndmsg>(message);
    header.ndm_ifindex = static_cast<int>(device.value);
    if ((header.ndm_state & (NUD_PERMANENT | NUD_NOARP)) == 0) header.ndm_state = NUD_STALE;
    auto made = make_message(RTM_NEWNEIGH, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE, header);
    each_attribute<ndmsg>(message, [&](const nlattr* attribute) {
        if (nla_type(attribute) == NDA_DST || nla_type(attribute) == NDA_LLADDR) copy(made.get(), attribute);
    });
    return made;
}

NlMessage route_for(const nlmsghdr* message, IfIndex from, IfIndex to) {
    auto header = header_of<rtmsg>(message);
    header.rtm_flags &= RTNH_F_ONLINK;
    // After those of the same destination and metric, so that none of them is replaced.
    auto made = make_message(RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_APPEND, header);
    each_attribute<rtmsg>(message, [&](const nlattr* attribute) {
        switch (nla_type(attribute)) {
        case RTA_NH_ID: break;
        case RTA_OIF: nla_put_u32(made.get(), RTA_OIF, to.value); break;
        case RTA_MULTIPATH: {
            const auto hops = with_device(attribute, from, to);
            if (nla_put(made.get(), RTA_MULTIPATH, static_cast<int>(hops.size()), hops.data()) < 0)
                throw std::bad_alloc();
            break;
        }
        case RTA_CACHEINFO: {
            const auto info = struct_in<rta_cacheinfo>(attribute);
            if (info.rta_expires > 0)
                nla_put_u32(made.get(), RTA_EXPIRES,
                            static_cast<std::uint32_t>(info.rta_expires) / clock_ticks);
            break;
        }
        default: copy(made.get(), attribute);
        }
    });
    return made;
}

NlMessage removal_of(const nlmsghdr* message) {
    auto header = header_of<rtmsg>(message);
    header.rtm_flags &= RTNH_F_ONLINK;
    const bool has_object = attribute_in<rtmsg>(message, RTA_NH_ID) != nullptr;
    auto made = make_message(RTM_DELROUTE, NLM_F_REQUEST, header);
    each_attribute<rtmsg>(message, [&](const nlattr* attribute) {
        const auto type = nla_type(attribute);
        if (type != RTA_CACHEINFO && !(has_object && is_nexthop(type))) copy(made.get(), attribute);
    });
    return made;
}

Result<IpSettings> IpSettings::read(IfIndex device) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    IpSettings read;
    read.device_ = device;
    const auto list = [&](int type, auto header, auto wanted, std::vector<Message>& into) {
        const auto make = [&] { return make_message(type, NLM_F_REQUEST | NLM_F_DUMP, header); };
        const auto take = [&](const nlmsghdr* message) {
            if (wanted(message, device)) into.push_back(bytes_of(message));
        };
        return socket.dump(make, take, [&into] { into.clear(); });
    };
    TEAMO_TRY(list(RTM_GETADDR, ifaddrmsg{}, is_address_of, read.addresses_));
    TEAMO_TRY(list(RTM_GETROUTE, rtmsg{}, is_route_of, read.routes_));
    TEAMO_TRY(list(RTM_GETNEIGH, ndmsg{}, is_neighbour_of, read.neighbours_));
    // A gateway must be reachable before the routes over it.
    // clang 14 cannot compile std::ranges::stable_partition.
    std::stable_partition(read.routes_.begin(), read.routes_.end(), [](const Message& route) {
        return attribute_in<rtmsg>(message_in(route), RTA_GATEWAY) == nullptr &&
               attribute_in<rtmsg>(message_in(route), RTA_MULTIPATH) == nullptr;
    });
    return read;
}

Result<> IpSettings::copy_addresses(IfIndex to) const {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    for (const auto& address : addresses_)
        TEAMO_TRY(within("cannot copy an address", socket.request(address_for(message_in(address), to))));
    for (const auto& neighbour : neighbours_)
        TEAMO_TRY(
            within("cannot copy a neighbour", socket.request(neighbour_for(message_in(neighbour), to))));
    return {};
}

Result<> IpSettings::move_routes(IfIndex to) const {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    for (const auto& route : routes_) {
        auto added = socket.request(route_for(message_in(route), device_, to));
        // The kernel itself makes those of the addresses.
        if (!added && added.error().number != EEXIST) return within("cannot move a route", std::move(added));
        TEAMO_TRY(within("cannot move a route", socket.request(removal_of(message_in(route)))));
    }
    return {};
}

bool IpSettings::is_renewed() const {
    return std::ranges::any_of(addresses_, [](const Message& address) {
        const auto* info = attribute_in<ifaddrmsg>(message_in(address), IFA_CACHEINFO);
        return info != nullptr && struct_in<ifa_cacheinfo>(info).ifa_valid != forever;
    });
}

} // namespace teamo
