// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RTM_*LINK messages and values of model/observation.h, one into the other.
#pragma once

#include "kernel/netlink/netlink_socket.h"
#include "model/observation.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace teamo {

/// Takes one RTM_NEWLINK or RTM_DELLINK message apart; none for any other, or one that is too short.
std::optional<Link> parse_link(const nlmsghdr* message);

/// Reads and changes devices. Every change says what was refused and in the kernel's words; none of them
/// looks first whether it is needed: who calls compares.
class LinkControl {
public:
    static Result<LinkControl> open();

    Result<Links> read_all();
    Result<Link> read(IfIndex index);

    /// Makes a veth pair: `name` with that address (all zero: the kernel makes one up), and the inner end,
    /// both down. EEXIST: there is a device of that name.
    Result<> create_veth(std::string_view name, std::string_view inner, const MacAddress& address);
    /// Makes a netkit pair in layer 2 mode whose programs decide about every packet (kernel 6.7 and later).
    Result<> create_netkit(std::string_view name, std::string_view inner, const MacAddress& address);
    /// Makes a device of the kernel's team driver, down, without a mode.
    Result<> create_team(std::string_view name, const MacAddress& address);
    /// Whether the kernel can make devices of that kind; loads the module where there is one.
    Result<bool> knows_kind(std::string_view kind);
    Result<> remove(IfIndex index);

    Result<> set_address(IfIndex index, const MacAddress& address);
    Result<> set_mtu(IfIndex index, std::uint32_t mtu);
    Result<> set_segment_limits(IfIndex index, const SegmentLimits& limits);
    /// Sets the IFF_* bits of `mask` to those of `flags`.
    Result<> set_flags(IfIndex index, std::uint32_t flags, std::uint32_t mask);
    /// Makes a device a port of a master; IfIndex{} is none.
    Result<> set_master(IfIndex index, IfIndex master);
    Result<> set_alias(IfIndex index, std::string_view alias);
    Result<> add_altname(IfIndex index, std::string_view altname);
    Result<> remove_altname(IfIndex index, std::string_view altname);

private:
    explicit LinkControl(NetlinkSocket socket) : socket_(std::move(socket)) {}
    Result<> create_pair(std::string_view kind, std::string_view name, std::string_view inner,
                         const MacAddress& address);
    NetlinkSocket socket_;
};

} // namespace teamo
