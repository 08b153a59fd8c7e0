// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Converts between RTM_*LINK messages and the types of model/observation.h.
#pragma once

#include "kernel/netlink/bond_options.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/config.h"
#include "model/observation.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace teamo {

/// Parses one RTM_NEWLINK or RTM_DELLINK message; none for other messages, and for those that are too short.
std::optional<Link> parse_link(const nlmsghdr* message);

/// Whether IPv6 is on, of a device that it was switched on for, or that has lost it.
struct Ipv6Event {
    IfIndex device;
    bool on = false;
};
/// Parses a message of the group RTNLGRP_IPV6_IFINFO; none for other messages.
std::optional<Ipv6Event> parse_ipv6_event(const nlmsghdr* message);

/// How a bond of ours is made.
struct BondSetup {
    BondMode mode = bond_mode_xor;
    BondPolicy policy = BondPolicy::layer34;
    /// How often it checks links. Until it has noticed that a link is back, the slave is not used. A lost
    /// one needs no check: bonding follows the carrier's events, or reads the carrier for each packet.
    std::chrono::milliseconds miimon{20};
    std::optional<LacpRunner> lacp{}; ///< in 802.3ad
    std::uint16_t min_links = 0;
};

/// The devices that are there.
struct LinkList {
    Links links{};
    /// False: devices came and went all the time that the list was read. None of these has gone, and none is
    /// missing that was known; before Linux 6.9 one that was not may be missing.
    bool is_whole = true;
};

/// Reads and changes devices. Errors have the kernel's own text. Changes are not compared with the present
/// state; that is up to the caller.
class LinkControl {
public:
    static Result<LinkControl> open();

    /// `known`: an earlier list.
    Result<LinkList> list(const Links& known);
    Result<Links> read_all();
    Result<Link> read(IfIndex index);
    /// By its name or an alternative one.
    Result<Link> read(std::string_view name);

    /// Creates a pair of kind veth or netkit: `name` with that address (all zero: the kernel chooses one) and
    /// the inner end, both down. netkit (kernel 6.7 and later) is in layer 2 mode and drops packets until it
    /// has a program. EEXIST: the name is in use.
    Result<> create_pair(std::string_view kind, std::string_view name, std::string_view inner,
                         const MacAddress& address);
    /// Creates a device of that kind, down, with the kernel's defaults: "team" has no mode then.
    Result<> create(std::string_view kind, std::string_view name, const MacAddress& address);
    /// Creates a device of the kernel's bonding driver, down.
    Result<> create_bond(std::string_view name, const MacAddress& address, const BondSetup& setup);
    /// Gives an existing bond, which has that mode, the other options, but not those of LACP, which cannot
    /// change while the bond is up.
    Result<> set_up_bond(IfIndex bond, const BondSetup& setup);
    /// Takes effect at once, also while the bond carries.
    Result<> set_bond_policy(IfIndex bond, BondPolicy policy);
    /// In active-backup: bonding changes to this slave at once. EINVAL: it has no link, or the mode is
    /// another.
    Result<> set_bond_active(IfIndex bond, IfIndex slave);
    /// Sets those of bond_slave_options that `options` has, as read_bond_options() read them from a slave.
    Result<> set_bond_slave(IfIndex slave, const BondOptions& options);
    /// True if the kernel can create devices of that kind; loads the module if there is one.
    Result<bool> knows_kind(std::string_view kind);
    Result<> remove(IfIndex index);

    Result<> set_address(IfIndex index, const MacAddress& address);
    Result<> set_mtu(IfIndex index, std::uint32_t mtu);
    /// EOPNOTSUPP: the driver does not allow it.
    Result<> set_carrier(IfIndex index, bool carrier);
    Result<> set_segment_limits(IfIndex index, const SegmentLimits& limits);
    /// Sets the IFF_* bits of `mask` to those of `flags`.
    Result<> set_flags(IfIndex index, std::uint32_t flags, std::uint32_t mask);
    /// Makes a device a port of a master; IfIndex{} is none.
    Result<> set_master(IfIndex index, IfIndex master);
    /// Moves a device to another network namespace, by the namespace's descriptor. It is down there.
    Result<> move_to(IfIndex index, int network_namespace);
    Result<> set_alias(IfIndex index, std::string_view alias);
    Result<> add_altname(IfIndex index, std::string_view altname);
    Result<> remove_altname(IfIndex index, std::string_view altname);

private:
    explicit LinkControl(NetlinkSocket socket) : socket_(std::move(socket)) {}
    Result<Link> read_one(const std::function<NlMessage()>& make);
    NetlinkSocket socket_;
};

} // namespace teamo
