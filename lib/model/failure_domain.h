// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a port needs besides itself, and so fails together with: its card, root port, NUMA node and switch.
#pragma once

#include "base/named.h"
#include "model/machine.h"

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>

namespace teamo {

/// How the switch of a port is known.
enum class SwitchSource : std::uint8_t {
    none, ///< it is not known
    lldp, ///< one device with its own chassis ID
    lacp, ///< the partner's system, which several switches may share (MLAG)
};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<SwitchSource>{"none", "lldp", "lacp"};

/// Where the cable of a port ends.
struct SwitchPort {
    SwitchSource source = SwitchSource::none;
    std::string id{};   ///< chassis ID, or the partner's system
    std::string name{}; ///< system name; empty: not reported
    std::string port{}; ///< port ID; empty: not known
    bool operator==(const SwitchPort&) const = default;

    bool is_known() const { return source != SwitchSource::none; }
    /// By different sources nothing is known.
    bool is_same_switch(const SwitchPort& other) const {
        return is_known() && source == other.source && id == other.id;
    }
    const std::string& shown() const { return name.empty() ? id : name; }
};

/// Of several ports: what all of them share.
struct FailureDomain {
    std::string card{};      ///< PCI address without the function, "0000:03:00"; empty: none
    std::string root_port{}; ///< PCI address; empty: none
    int node = -1;           ///< NUMA node; -1: none
    SwitchPort at{};
    bool operator==(const FailureDomain&) const = default;
};

FailureDomain domain_of(const DevicePlace& place);

/// Likely failures first: a switch is also restarted, a card only breaks.
enum class DomainPart : std::uint8_t { at, card, root_port, node };
inline constexpr std::array all_domain_parts{DomainPart::at, DomainPart::card, DomainPart::root_port,
                                             DomainPart::node};
template <>
inline constexpr std::array<std::string_view, 4> enum_names<DomainPart>{"switch", "card", "PCIe root port",
                                                                        "NUMA node"};

/// What is not known is not shared.
bool shares(const FailureDomain& one, const FailureDomain& other, DomainPart part);

/// What two ports share, by DomainPart: less is better, and the first part decides.
using SharedParts = std::array<bool, all_domain_parts.size()>;
SharedParts shared_parts(const FailureDomain& one, const FailureDomain& other);

/// What all of them share; of fewer than two, nothing. SwitchPort::port is left out.
FailureDomain common_of(std::span<const FailureDomain> domains);

} // namespace teamo
