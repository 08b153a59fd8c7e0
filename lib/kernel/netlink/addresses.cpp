// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/addresses.h"

#include "kernel/netlink/attributes.h"
#include "kernel/netlink/netlink_socket.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <optional>

namespace teamo {
namespace {

std::optional<DeviceAddress> parse_address(const nlmsghdr* message) {
    std::array<nlattr*, IFA_MAX + 1> attributes{};
    if (message->nlmsg_type != RTM_NEWADDR || nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(ifaddrmsg),
                                                          attributes.data(), IFA_MAX, nullptr) < 0)
        return std::nullopt;
    const auto* header = static_cast<const ifaddrmsg*>(nlmsg_data(message));
    if (header->ifa_family != AF_INET && header->ifa_family != AF_INET6) return std::nullopt;

    // IFA_LOCAL is the own end of a point-to-point address; IPv6 has only IFA_ADDRESS otherwise.
    const auto ip =
        ip_in(attributes[attributes[IFA_LOCAL] != nullptr ? IFA_LOCAL : IFA_ADDRESS], header->ifa_family);
    if (!ip) return std::nullopt;
    const std::uint32_t flags =
        attributes[IFA_FLAGS] != nullptr ? nla_get_u32(attributes[IFA_FLAGS]) : header->ifa_flags;
    return DeviceAddress{.device = IfIndex{header->ifa_index},
                         .ip = *ip,
                         .tentative = (flags & IFA_F_TENTATIVE) != 0 && (flags & IFA_F_OPTIMISTIC) == 0,
                         .prefix = header->ifa_prefixlen,
                         .flags = flags};
}

} // namespace

Result<> add_ipv6_address(const DeviceAddress& address) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    ifaddrmsg header{};
    header.ifa_family = AF_INET6;
    header.ifa_prefixlen = address.prefix;
    header.ifa_index = address.device.value;
    auto message = make_message(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE, header);
    nla_put(message.get(), IFA_LOCAL, static_cast<int>(address.ip.size()), address.ip.bytes.data());
    nla_put_u32(message.get(), IFA_FLAGS, address.flags);
    if (auto done = socket.request(std::move(message)); !done)
        return within(fmt::format("address {}/{}", text_of(address.ip), address.prefix),
                      std::move(done.error()));
    return {};
}

Result<std::vector<DeviceAddress>> read_addresses() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto make = [] { return make_message(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP, ifaddrmsg{}); };
    auto list = socket.list(make, parse_address);
    if (!list) return within("the list of addresses", std::move(list.error()));
    return list;
}

} // namespace teamo
