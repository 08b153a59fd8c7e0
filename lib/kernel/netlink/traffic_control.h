// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tc filters on a device's clsact hooks, and the qdisc that has the hooks; a qdisc that limits the rate.
#pragma once

#include "base/named.h"
#include "base/result.h"
#include "kernel/netlink/netlink_socket.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

enum class TcHook : std::uint8_t { ingress, egress };

/// What a filter does with a frame that it matches.
enum class TcVerdict : std::uint8_t {
    goes_on, ///< the next filter sees it too
    ends,    ///< no later filter sees it: it is accepted or dropped (for BPF: possibly)
    takes,   ///< it goes elsewhere: mirred redirect, trap
};

/// A filter of any program, as the kernel reports it.
struct TcFilter {
    std::uint32_t priority = 0, handle = 0;
    std::string kind{}; ///< "bpf", "u32", "matchall"
    std::string name{}; ///< of a BPF filter
    std::uint32_t id{}; ///< of the program of a BPF filter
    TcVerdict verdict = TcVerdict::ends;

    bool operator==(const TcFilter&) const = default;
};

/// In the order in which they run; none if the device has no such hook, or is gone.
Result<std::vector<TcFilter>> read_filters(NetlinkSocket& socket, IfIndex device, TcHook hook);

/// The kind of the qdisc that has the hooks: "clsact", or "ingress", which has no egress hook; empty: there
/// is none. The kernel tells all who listen to tc when it is asked.
Result<std::string> read_hook_qdisc(NetlinkSocket& socket, IfIndex device);

/// ESTALE: there is one, perhaps of the kind "ingress".
Result<> create_clsact(IfIndex device);
/// Removes the qdisc "clsact" or "ingress" with all filters; nothing if there is none.
Result<> remove_hook_qdisc(NetlinkSocket& socket, IfIndex device);

/// Attaches the program (direct-action), or replaces the filter of that priority and handle: no packet passes
/// without one of the two.
Result<> attach_filter(IfIndex device, TcHook hook, std::uint32_t priority, std::uint32_t handle,
                       int program);
/// Nothing if there is none.
Result<> detach_filter(IfIndex device, TcHook hook, std::uint32_t priority, std::uint32_t handle);

/// A token bucket (tc-tbf(8)).
struct Shaper {
    std::uint64_t rate = 0;  ///< bytes per second
    std::uint32_t burst = 0; ///< bytes; a GSO packet that is larger is segmented
    std::uint32_t limit = 0; ///< bytes of the queue
};

/// Makes a token bucket the root qdisc of a device without one.
Result<> add_shaper(IfIndex device, const Shaper& shaper);

// Messages of the kernel, pure.

/// None for other messages, and for the first of each priority, which names only the chain and has no handle.
std::optional<TcFilter> parse_tc_filter(const nlmsghdr* message);

/// The device of a message about a qdisc or filter (RTM_*QDISC, RTM_*TFILTER); none for others.
std::optional<IfIndex> device_of_tc_event(const nlmsghdr* message);

} // namespace teamo
