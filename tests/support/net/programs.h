// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "support/net/net_ns.h"

#include <string>
#include <string_view>

namespace teamo::test {

/// The index of a device of this process's network namespace.
IfIndex index_of(const NetNs& in, std::string_view device);

/// The BPF programs of the daemon on a device of this process's network namespace, by tcx and by clsact, a
/// line each: "ingress teamo_receive 47". Empty: none, or no such device.
std::string our_programs(const NetNs& in, std::string_view device);

/// Removes all programs from the hooks of a device, and clsact, as another program may.
void remove_our_programs(const NetNs& in, std::string_view device);

} // namespace teamo::test
