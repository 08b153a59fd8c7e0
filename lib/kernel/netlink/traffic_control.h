// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Our tc filters on a device's clsact hooks, beside those of other programs. We create clsact only if there
// is none, and remove it only if we created it and no other filter is attached.
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>

struct nlmsghdr;

namespace teamo {

/// True if the device has no clsact qdisc, so that attach_ingress() will create one.
Result<bool> lacks_clsact(IfIndex device);

/// Attaches the program to the device's ingress, or replaces our earlier one there atomically. EEXIST:
/// another program's filter has our priority and handle.
Result<> attach_ingress(IfIndex device, int program);

/// The same for the egress.
Result<> attach_egress(IfIndex device, int program);

/// The same for the ingress, before the filters above: the guard, which drops frames (docs/adr/0029).
Result<> attach_guard(IfIndex device, int program);
Result<> detach_guard(IfIndex device);

/// Removes our filters if there are any, then clsact if `remove_clsact` is set and it is empty.
Result<> detach(IfIndex device, bool remove_clsact);

/// A filter of any program, as the kernel reports it.
struct TcFilter {
    std::uint32_t priority = 0, handle = 0;
    std::string name; ///< of a BPF filter

    bool operator==(const TcFilter&) const = default;
};

/// None for other messages, and for the first of each priority, which names only the chain and has no handle.
std::optional<TcFilter> parse_tc_filter(const nlmsghdr* message);

} // namespace teamo
