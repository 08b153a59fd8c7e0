// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/addresses.h"

#include "kernel/netlink/netlink_socket.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <sys/socket.h>

#include <algorithm>
#include <new>
#include <optional>

namespace teamo {
namespace {

NlMessage address_dump() {
    auto message = make_message(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);
    ifaddrmsg header{};
    header.ifa_family = AF_UNSPEC;
    if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    return message;
}

std::optional<DeviceAddress> parse_address(const nlmsghdr* message) {
    std::array<nlattr*, IFA_MAX + 1> attributes{};
    if (message->nlmsg_type != RTM_NEWADDR || nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(ifaddrmsg),
                                                          attributes.data(), IFA_MAX, nullptr) < 0)
        return std::nullopt;
    const auto* header = static_cast<const ifaddrmsg*>(nlmsg_data(message));
    if (header->ifa_family != AF_INET && header->ifa_family != AF_INET6) return std::nullopt;

    DeviceAddress address;
    address.device = IfIndex{header->ifa_index};
    address.ip.ipv6 = header->ifa_family == AF_INET6;
    // IFA_LOCAL is the own end of a point-to-point address; IPv6 has only IFA_ADDRESS otherwise.
    const auto* own = attributes[IFA_LOCAL] != nullptr ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS];
    if (own == nullptr || static_cast<std::size_t>(nla_len(own)) < address.ip.size()) return std::nullopt;
    std::copy_n(static_cast<const std::uint8_t*>(nla_data(own)), address.ip.size(), address.ip.bytes.begin());
    const std::uint32_t flags =
        attributes[IFA_FLAGS] != nullptr ? nla_get_u32(attributes[IFA_FLAGS]) : header->ifa_flags;
    address.prefix = header->ifa_prefixlen;
    address.flags = flags;
    address.tentative = (flags & IFA_F_TENTATIVE) != 0 && (flags & IFA_F_OPTIMISTIC) == 0;
    return address;
}

} // namespace

Result<> add_ipv6_address(const DeviceAddress& address) {
    auto socket = NetlinkSocket::open(NETLINK_ROUTE);
    if (!socket) return tl::unexpected(socket.error());
    auto message = make_message(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE);
    ifaddrmsg header{};
    header.ifa_family = AF_INET6;
    header.ifa_prefixlen = address.prefix;
    header.ifa_index = address.device.value;
    if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    nla_put(message.get(), IFA_LOCAL, static_cast<int>(address.ip.size()), address.ip.bytes.data());
    nla_put_u32(message.get(), IFA_FLAGS, address.flags);
    if (auto done = socket->request(std::move(message)); !done)
        return within(fmt::format("address {}/{}", text_of(address.ip), address.prefix),
                      std::move(done.error()));
    return {};
}

Result<std::vector<DeviceAddress>> read_addresses() {
    auto socket = NetlinkSocket::open(NETLINK_ROUTE);
    if (!socket) return tl::unexpected(socket.error());
    std::vector<DeviceAddress> addresses;
    const auto take = [&addresses](const nlmsghdr* message) {
        if (const auto address = parse_address(message)) addresses.push_back(*address);
    };
    auto read = socket->dump(address_dump, take, [&addresses] { addresses.clear(); });
    if (!read) return within("the list of addresses", std::move(read.error()));
    return addresses;
}

} // namespace teamo
