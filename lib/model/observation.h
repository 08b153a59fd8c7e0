// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernel shows: devices as values. lib/kernel reads them, plans are made from them.
#pragma once

#include "base/mac_address.h"
#include "base/named.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

/// How large a packet may be that segmentation still cuts (GSO); 0: the kernel does not say.
struct SegmentLimits {
    std::uint32_t size = 0;      ///< bytes
    std::uint32_t segs = 0;      ///< segments it is cut into
    std::uint32_t ipv4_size = 0; ///< bytes of one with IPv4, which has a limit of its own since kernel 6.3
    bool operator==(const SegmentLimits&) const = default;
};

/// One network device as RTM_NEWLINK tells it.
struct Link {
    IfIndex index;
    std::string name;
    MacAddress address;
    std::optional<MacAddress> permanent_address; ///< IFLA_PERM_ADDRESS; virtual devices have none
    std::uint32_t mtu = 0;                       ///< bytes, without the Ethernet header
    std::uint32_t flags = 0;                     ///< IFF_*
    std::uint16_t type = 0;                      ///< ARPHRD_*
    std::string kind;                            ///< IFLA_INFO_KIND: "veth", "bridge"; empty for hardware
    std::uint16_t vlan = 0;                      ///< IFLA_VLAN_ID, of a VLAN device
    IfIndex master;                              ///< the bridge, team or bond it is a port of
    IfIndex lower;                               ///< IFLA_LINK: what it stands on, or a veth's other end
    bool lower_elsewhere = false;                ///< `lower` is a number of another namespace
    std::uint32_t promiscuity = 0;               ///< how many want everything
    SegmentLimits gso_max;                       ///< IFLA_GSO_MAX_SIZE, _SEGS, IFLA_GSO_IPV4_MAX_SIZE: as set
    SegmentLimits tso_max;                       ///< IFLA_TSO_MAX_*: the most it can be set to
    std::string alias;
    std::vector<std::string> altnames;
    bool operator==(const Link&) const = default;

    bool is_up() const;    ///< administratively
    bool has_link() const; ///< up, carrier there, and in operation (netif_oper_up)
};

/// The kernel tells of this device's lost carrier up to a second late, and of its return likewise as long as
/// it has not told of the loss.
bool news_are_late(const Link& link);
/// The carrier went and the kernel has not worked on that yet: until it has, its messages may say of the
/// carrier what was so before.
bool loss_is_untold(const Link& link);

/// All devices of the namespace.
using Links = std::map<IfIndex, Link>;

const Link* find_link(const Links& links, std::string_view name);
const Link* find_link(const Links& links, IfIndex index);
/// The device that bears an alternative name.
const Link* find_altname(const Links& links, std::string_view altname);
/// Whether `device` is a VLAN, macvlan or the like above `below`, at any height.
bool stands_on(const Links& links, const Link& device, const Link& below);

} // namespace teamo
