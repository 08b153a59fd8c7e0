// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Network devices as the kernel shows them, and the marks of ours.
#pragma once

#include "base/mac_address.h"
#include "base/named.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// The GSO limits; 0: the kernel does not report it.
struct SegmentLimits {
    std::uint32_t size = 0;      ///< bytes in a packet
    std::uint32_t segs = 0;      ///< segments of a packet
    std::uint32_t ipv4_size = 0; ///< bytes in an IPv4 packet; a separate limit since kernel 6.3
    bool operator==(const SegmentLimits&) const = default;
};

inline const std::string bond_kind = "bond"; ///< IFLA_INFO_KIND, and IFLA_INFO_SLAVE_KIND of its slaves
using BondMode = std::uint8_t;               ///< BOND_MODE_* (linux/if_bonding.h)
inline constexpr BondMode bond_mode_round_robin = 0, bond_mode_active_backup = 1, bond_mode_xor = 2,
                          bond_mode_lacp = 4;
/// As bonding names it.
inline std::string bond_mode_name(BondMode mode) {
    constexpr std::array<std::string_view, 7> names{"balance-rr", "active-backup", "balance-xor", "broadcast",
                                                    "802.3ad",    "balance-tlb",   "balance-alb"};
    return mode < names.size() ? std::string(names[mode]) : std::to_string(mode);
}
/// Which fields of a packet select the slave (BOND_XMIT_POLICY_*).
enum class BondPolicy : std::uint8_t { layer2, layer34, layer23, encap23, encap34, vlan_srcmac };
template <>
inline constexpr std::array<std::string_view, 6> enum_names<BondPolicy>{
    "layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"};
inline std::string text_of(BondPolicy policy) { return name_of(policy); }

/// One network device, from RTM_NEWLINK.
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
    std::optional<BondMode> bond_mode;           ///< IFLA_BOND_MODE, of a bond
    std::optional<BondPolicy> bond_policy;       ///< IFLA_BOND_XMIT_HASH_POLICY, of a bond; none: not known
    IfIndex bond_active{};                       ///< IFLA_BOND_ACTIVE_SLAVE, of a bond in active-backup
    IfIndex bond_primary{};                      ///< IFLA_BOND_PRIMARY
    std::uint32_t bond_down_delay = 0;           ///< IFLA_BOND_DOWNDELAY, milliseconds
    std::uint32_t bond_arp_interval = 0;         ///< IFLA_BOND_ARP_INTERVAL, milliseconds; 0: no ARP monitor
    bool bond_shares_address = true;             ///< IFLA_BOND_FAIL_OVER_MAC is none: all slaves have it
    bool bond_takes_all = false;                 ///< IFLA_BOND_ALL_SLAVES_ACTIVE: backups receive
    bool bond_uses_link = true;                  ///< of a slave of a bond: bonding has noticed its link
    bool bond_backup = false;                    ///< of a slave of a bond: bonding does not send by it
    std::int32_t bond_prio = 0;                  ///< IFLA_BOND_SLAVE_PRIO, of a slave of a bond
    IfIndex master;                              ///< the bridge, team or bond that it is a port of
    IfIndex lower;                               ///< IFLA_LINK: the device below it, or a veth's other end
    bool lower_elsewhere = false;                ///< `lower` is an index of another network namespace
    bool has_xdp = false;                        ///< IFLA_XDP_ATTACHED: an XDP program of any mode
    std::uint32_t promiscuity = 0;               ///< number of requests for promiscuous mode
    bool ipv6 = false;                           ///< net.ipv6.conf.NAME.disable_ipv6 is 0
    SegmentLimits gso_max;                       ///< IFLA_GSO_MAX_SIZE, _SEGS, IFLA_GSO_IPV4_MAX_SIZE: as set
    SegmentLimits tso_max;                       ///< IFLA_TSO_MAX_*: the most it can be set to
    std::uint32_t carrier_losses = 0;            ///< IFLA_CARRIER_DOWN_COUNT: how often the link was lost
    std::string alias;
    std::vector<std::string> altnames;
    bool operator==(const Link&) const = default;

    bool is_up() const;    ///< administratively
    bool has_link() const; ///< up, with carrier, and operational (netif_oper_up)
    /// Whether this is its name or an alternative one; the kernel takes either for the device.
    bool has_name(std::string_view one) const;
};

/// Whether the kernel may report a carrier loss up to a second late; and the return, until it has.
bool events_are_late(const Link& link);
/// Whether linkwatch has not processed a carrier loss yet. Until then messages may show the former carrier.
bool loss_is_pending(const Link& link);

/// All devices of the namespace.
using Links = std::map<IfIndex, Link>;

const Link* find_link(const Links& links, std::string_view name);
const Link* find_link(const Links& links, IfIndex index);
/// The device that has this name or this alternative name, as `ip` finds it.
const Link* find_named(const Links& links, std::string_view name);
/// The device with an alternative name.
const Link* find_altname(const Links& links, std::string_view altname);
/// The device of a team: that with its mark, which may have another name now, else that with its name.
const Link* find_team(const Links& links, std::string_view team);
/// Whether `device` is a VLAN, macvlan or the like on top of `below`, at any level.
bool stands_on(const Links& links, const Link& device, const Link& below);

// ---- marks -------------------------------------------------------------------------------------
//
// Alternative names (ip link property) of our devices and ports, by which other programs leave them alone
// (packaging/) and a later daemon recognizes them:
//
//   teamo-team-TEAM          the team device
//   teamo-inner-TEAM         its inner end
//   teamo-port-TEAM-SLOT     a port and its slot

/// Inner ends have this name with a number after it.
inline constexpr std::string_view inner_name_prefix = "tmo";
inline constexpr std::uint32_t inner_mtu = 65535; ///< the largest of veth and netkit (ETH_MAX_MTU)

std::string team_mark(std::string_view team);
std::string inner_mark(std::string_view team);
std::string port_mark(std::string_view team, Slot slot);

/// The content of a port's mark.
struct PortMark {
    std::string team;
    Slot slot;
    bool operator==(const PortMark&) const = default;
};
std::optional<PortMark> port_mark_of(const Link& link);

/// The team if this is a team device or an inner end, else none.
std::optional<std::string> team_of_device(const Link& link);

} // namespace teamo
