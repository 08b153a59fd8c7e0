// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads attributes of netlink messages. A null pointer stands for an attribute that the message does not
// have.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"

#include <netlink/attr.h>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace teamo {

/// None: no attribute, or not the length of an Ethernet address.
std::optional<MacAddress> mac_in(const nlattr* attribute);

/// `family`: AF_INET or AF_INET6. None: no attribute, or not the length of such an address.
std::optional<IpAddress> ip_in(const nlattr* attribute, int family);

/// A struct of the kernel, which may be shorter or longer than ours. Zeros: no attribute.
template <class Struct>
Struct struct_in(const nlattr* attribute) {
    Struct value{};
    if (attribute != nullptr)
        std::copy_n(static_cast<const std::byte*>(nla_data(attribute)),
                    std::min(static_cast<std::size_t>(nla_len(attribute)), sizeof value),
                    reinterpret_cast<std::byte*>(&value));
    return value;
}

} // namespace teamo
