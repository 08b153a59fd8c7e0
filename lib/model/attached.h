// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond that another program made, to which the daemon has attached itself (docs/adr/0038).
#pragma once

#include "base/named.h"

#include <string>
#include <string_view>

namespace teamo {

/// Why the daemon does not choose the slaves of a bond, or in active-backup does not help it when the active
/// one has lost its link; `nothing`: it does.
enum class Unsteered : std::uint8_t {
    nothing,
    mode,       ///< the mode does not choose by a hash
    policy,     ///< no hash of ours keeps together what vlan+srcmac does
    device_tls, ///< device TLS works only with the policy layer3+4
    slaves,     ///< it has more slaves than a team can have ports
    addresses,  ///< active-backup: fail_over_mac gives a backup an address of its own
    delay,      ///< active-backup: downdelay wants bonding to wait
    arp,        ///< slb: by bonding's ARP monitor the switches learn the bond's address at every slave
    programs,   ///< the kernel refuses the programs, or has no types of bonding
    waits,      ///< another program has changed the policy a moment ago
    owner,      ///< another program changes the policy again
    refused,    ///< the kernel refuses the policy
};
template <>
inline constexpr std::array<std::string_view, 12> enum_names<Unsteered>{
    "",      "mode", "policy",   "device_tls", "slaves", "addresses",
    "delay", "arp",  "programs", "waits",      "owner",  "refused"};

struct AttachedStatus {
    std::string mode{};       ///< "802.3ad"
    std::string policy{};     ///< xmit_hash_policy as it is now
    std::string own_policy{}; ///< as the bond's owner has chosen it
    Unsteered unsteered = Unsteered::nothing;
    std::string detail{}; ///< what the kernel said, of `programs` and `refused`
    bool operator==(const AttachedStatus&) const = default;
};

/// The runner whose ports are used as the slaves of a bond in that mode are: "lacp" for 802.3ad. `runner`: of
/// the daemon; slb does nothing in other modes than balance-xor.
std::string runner_like(std::string_view mode, std::string_view runner);
/// Why it is not steered, as a sentence without a full stop.
std::string text_of(const AttachedStatus& attached);
/// What the administrator of `bond` can do about it; empty: nothing.
std::string cure_of(const AttachedStatus& attached, std::string_view bond);

} // namespace teamo
