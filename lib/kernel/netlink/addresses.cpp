// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/addresses.h"

#include "kernel/netlink/netlink_socket.h"

#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace teamo {
namespace {

IfIndex device_of(const ndmsg& header) { return IfIndex{static_cast<std::uint32_t>(header.ndm_ifindex)}; }

/// RTA_VIA: a gateway of the other family (RFC 5549).
std::optional<IpAddress> via_in(const nlattr* attribute) {
    if (attribute == nullptr || nla_len(attribute) < static_cast<int>(sizeof(rtvia))) return std::nullopt;
    const auto* via = static_cast<const rtvia*>(nla_data(attribute));
    IpAddress address{.ipv6 = via->rtvia_family == AF_INET6};
    if (static_cast<std::size_t>(nla_len(attribute)) < sizeof(rtvia) + address.size()) return std::nullopt;
    std::copy_n(static_cast<const std::uint8_t*>(nla_data(attribute)) + sizeof(rtvia), address.size(),
                address.bytes.begin());
    return address;
}

NlMessage route_request(const IpAddress& to, const std::optional<IpAddress>& from) {
    const auto length = static_cast<int>(to.size());
    const auto bits = static_cast<unsigned char>(8 * length);
    rtmsg header{};
    header.rtm_family = to.ipv6 ? AF_INET6 : AF_INET;
    header.rtm_dst_len = bits;
    header.rtm_src_len = from ? bits : 0;
    auto message = make_message(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_ACK, header);
    if (nla_put(message.get(), RTA_DST, length, to.bytes.data()) < 0 ||
        (from && nla_put(message.get(), RTA_SRC, length, from->bytes.data()) < 0))
        throw std::bad_alloc();
    return message;
}

} // namespace

std::optional<DeviceAddress> parse_address(const nlmsghdr* message) {
    const auto* header = header_in<ifaddrmsg>(message, RTM_NEWADDR);
    if (header == nullptr || (header->ifa_family != AF_INET && header->ifa_family != AF_INET6))
        return std::nullopt;
    // IFA_LOCAL is the own end of a point-to-point address; IPv6 has only IFA_ADDRESS otherwise.
    const auto* own = attribute_in<ifaddrmsg>(message, IFA_LOCAL);
    const auto ip =
        ip_in(own != nullptr ? own : attribute_in<ifaddrmsg>(message, IFA_ADDRESS), header->ifa_family);
    if (!ip) return std::nullopt;
    const auto flags = number_in(attribute_in<ifaddrmsg>(message, IFA_FLAGS)).value_or(header->ifa_flags);
    return DeviceAddress{.device = IfIndex{header->ifa_index},
                         .ip = *ip,
                         .tentative = (flags & IFA_F_TENTATIVE) != 0 && (flags & IFA_F_OPTIMISTIC) == 0,
                         .prefix = header->ifa_prefixlen,
                         .flags = flags};
}

namespace {

/// Of this device; of all if there is none.
Result<std::vector<DeviceAddress>>
list_addresses(NetlinkSocket& socket, int type, int family, IfIndex device,
               std::optional<DeviceAddress> (*parse)(const nlmsghdr* message)) {
    ifaddrmsg header{};
    header.ifa_family = static_cast<std::uint8_t>(family);
    header.ifa_index = device.value;
    const auto make = [&] { return make_message(type, NLM_F_REQUEST | NLM_F_DUMP, header); };
    auto list = within("the list of addresses", socket.list(make, parse));
    if (list && device)
        std::erase_if(*list, [device](const DeviceAddress& one) { return one.device != device; });
    return list;
}

} // namespace

std::optional<DeviceAddress> parse_group(const nlmsghdr* message) {
    const auto* header = header_in<ifaddrmsg>(message, RTM_GETMULTICAST);
    if (header == nullptr) return std::nullopt;
    const auto group = ip_in(attribute_in<ifaddrmsg>(message, IFA_MULTICAST), header->ifa_family);
    if (!group) return std::nullopt;
    return DeviceAddress{.device = IfIndex{header->ifa_index}, .ip = *group};
}

namespace {

Result<std::vector<IpAddress>> list_groups(NetlinkSocket& strict, int family, IfIndex device) {
    const auto list = TEAMO_TRY(list_addresses(strict, RTM_GETMULTICAST, family, device, parse_group));
    std::vector<IpAddress> groups;
    for (const auto& one : list)
        groups.push_back(one.ip);
    return groups;
}

} // namespace

Result<std::vector<DeviceAddress>> read_addresses() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    return list_addresses(socket, RTM_GETADDR, AF_UNSPEC, {}, parse_address);
}

Result<std::vector<DeviceAddress>> read_addresses(NetlinkSocket& strict, IfIndex device) {
    return list_addresses(strict, RTM_GETADDR, AF_UNSPEC, device, parse_address);
}

Result<std::vector<IpAddress>> read_ipv6_groups(NetlinkSocket& strict, IfIndex device) {
    return list_groups(strict, AF_INET6, device);
}

Result<std::vector<IpAddress>> read_ipv4_groups(NetlinkSocket& strict, IfIndex device) {
    return list_groups(strict, AF_INET, device);
}

Result<> add_address(const DeviceAddress& address) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    ifaddrmsg header{};
    header.ifa_family = address.ip.ipv6 ? AF_INET6 : AF_INET;
    header.ifa_prefixlen = address.prefix;
    header.ifa_index = address.device.value;
    auto message = make_message(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE, header);
    nla_put(message.get(), IFA_LOCAL, static_cast<int>(address.ip.size()), address.ip.bytes.data());
    nla_put_u32(message.get(), IFA_FLAGS, address.flags);
    return within(fmt::format("address {}/{}", text_of(address.ip), address.prefix),
                  socket.request(std::move(message)));
}

std::optional<Neighbour> parse_neighbour(const nlmsghdr* message) {
    const auto* header = header_in<ndmsg>(message, RTM_NEWNEIGH);
    if (header == nullptr || (header->ndm_state & (NUD_INCOMPLETE | NUD_FAILED)) != 0) return std::nullopt;
    const auto mac = mac_in(attribute_in<ndmsg>(message, NDA_LLADDR));
    const auto address = ip_in(attribute_in<ndmsg>(message, NDA_DST), header->ndm_family);
    if (!mac || !address) return std::nullopt;
    return Neighbour{.device = device_of(*header), .address = *address, .mac = *mac};
}

Result<std::vector<Neighbour>> read_neighbours() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto make = [] { return make_message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, ndmsg{}); };
    return within("the neighbour table", socket.list(make, parse_neighbour));
}

std::optional<HardwareAddress> parse_hardware_address(const nlmsghdr* message) {
    const auto* header = header_in<ndmsg>(message, RTM_NEWNEIGH);
    if (header == nullptr || header->ndm_family != PF_BRIDGE || (header->ndm_flags & NTF_SELF) == 0)
        return std::nullopt;
    const auto mac = mac_in(attribute_in<ndmsg>(message, NDA_LLADDR));
    if (!mac) return std::nullopt;
    return HardwareAddress{.device = device_of(*header), .address = *mac};
}

Result<std::vector<MacAddress>> read_address_list(IfIndex device) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    // A PF_BRIDGE dump takes an ifinfomsg with the device's number (net/core/rtnetlink.c:
    // valid_fdb_dump_legacy).
    ifinfomsg header{};
    header.ifi_family = PF_BRIDGE;
    header.ifi_index = static_cast<int>(device.value);
    const auto make = [&] { return make_message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, header); };
    const auto of_device = [device](const nlmsghdr* message) -> std::optional<MacAddress> {
        const auto entry = parse_hardware_address(message);
        if (!entry || entry->device != device) return std::nullopt;
        return entry->address;
    };
    return within("the list of hardware addresses", socket.list(make, of_device));
}

Result<std::vector<MacAddress>> read_unicast_list(IfIndex device) {
    auto list = read_address_list(device);
    if (list) std::erase_if(*list, [](const MacAddress& address) { return address.is_multicast(); });
    return list;
}

bool may_list_addresses(const Link& now) {
    return now.kind != "veth" || !now.is_up() || now.promiscuity != 0;
}

std::optional<Route> parse_route(const nlmsghdr* message) {
    const auto* header = header_in<rtmsg>(message, RTM_NEWROUTE);
    if (header == nullptr) return std::nullopt;
    Route route{.device = IfIndex{number_in(attribute_in<rtmsg>(message, RTA_OIF)).value_or(0)},
                .gateway = ip_in(attribute_in<rtmsg>(message, RTA_GATEWAY), header->rtm_family),
                .type = header->rtm_type};
    if (!route.gateway) route.gateway = via_in(attribute_in<rtmsg>(message, RTA_VIA));
    return route;
}

Result<Route> read_route(const IpAddress& to, const std::optional<IpAddress>& from) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto routes = TEAMO_TRY(within(fmt::format("the route to {}", text_of(to)),
                                         socket.list([&] { return route_request(to, from); }, parse_route)));
    if (routes.empty())
        return fail(ENETUNREACH, fmt::format("the kernel reports no route to {}", text_of(to)));
    return routes.back();
}

} // namespace teamo
