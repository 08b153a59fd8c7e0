// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/attributes.h"

#include <sys/socket.h>

namespace teamo {
namespace {

template <class Address>
std::optional<Address> copied(const nlattr* attribute, Address address, std::size_t size) {
    if (attribute == nullptr || static_cast<std::size_t>(nla_len(attribute)) != size) return std::nullopt;
    std::copy_n(static_cast<const std::uint8_t*>(nla_data(attribute)), size, address.bytes.begin());
    return address;
}

} // namespace

std::optional<MacAddress> mac_in(const nlattr* attribute) {
    return copied(attribute, MacAddress{}, MacAddress{}.bytes.size());
}

std::optional<IpAddress> ip_in(const nlattr* attribute, int family) {
    const IpAddress address{.ipv6 = family == AF_INET6};
    return copied(attribute, address, address.size());
}

} // namespace teamo
