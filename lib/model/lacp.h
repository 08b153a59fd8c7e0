// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The values of LACP that other parts of the program show, configure or keep. IEEE 802.1AX-2020.
#pragma once

#include "base/clock.h"
#include "base/mac_address.h"
#include "base/named.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace teamo::lacp {

/// The bits of Actor_State and Partner_State.
enum class StateBit : std::uint8_t {
    activity = 1U << 0,        ///< LACP_Activity: sends also if the partner is passive
    timeout = 1U << 1,         ///< LACP_Timeout: short, so it wants a LACPDU each second
    aggregation = 1U << 2,     ///< may be aggregated; otherwise an individual link
    synchronization = 1U << 3, ///< its aggregator is the right one
    collecting = 1U << 4,      ///< receives
    distributing = 1U << 5,    ///< transmits
    defaulted = 1U << 6,       ///< uses default values for its partner, because none has answered
    expired = 1U << 7,         ///< has not heard its partner for a while
};

/// Lower is better in each: priority first, then the address or number.
struct SystemId {
    std::uint16_t priority = 0;
    MacAddress address{};
    auto operator<=>(const SystemId&) const = default;
};
struct PortId {
    std::uint16_t priority = 0, number = 0;
    auto operator<=>(const PortId&) const = default;
};

/// What a LACPDU says about a port, of the actor or of the partner (6.4.2.3).
struct PortInfo {
    SystemId system{};
    std::uint16_t key = 0;
    PortId port{};
    std::uint8_t state = 0; ///< StateBit
    bool operator==(const PortInfo&) const = default;

    bool is(StateBit bit) const { return (state & static_cast<std::uint8_t>(bit)) != 0; }
    void set(StateBit bit, bool on) {
        const auto mask = static_cast<std::uint8_t>(bit);
        state = static_cast<std::uint8_t>(on ? state | mask : state & ~mask);
    }
};

/// What a later daemon needs to continue without a change that the partner would see.
struct PortMemory {
    PortInfo actor{}, partner{};
    bool fallback = false; ///< carries without a partner
    bool by_hand = false;  ///< its aggregator was chosen by hand
    bool operator==(const PortMemory&) const = default;
};

/// Of one port, since it joined.
struct FrameCounters {
    std::uint64_t lacpdus_received = 0, lacpdus_sent = 0;
    std::uint64_t markers_received = 0, marker_responses_sent = 0;
    std::uint64_t unknown_received = 0; ///< of other slow protocols
    std::uint64_t illegal_received = 0; ///< too short, of a wrong length, or not sent to the group's address
    std::uint64_t looped_received = 0;  ///< LACPDUs of this system itself
    std::uint64_t excess_received = 0;  ///< not read: more frames in a second than any partner sends
    bool operator==(const FrameCounters&) const = default;
};

enum class ChurnState : std::uint8_t { no_churn, monitor, churn };

/// Why a port does not carry.
enum class NotSelected : std::uint8_t {
    none, ///< it carries
    no_link,
    half_duplex,
    looped,         ///< its LACPDUs come back
    no_answer_yet,  ///< the link is new
    partner_silent, ///< no LACPDU, or none for the timeout
    other_system,   ///< another aggregator is used, with another partner
    other_key,      ///< the same for the partner's key
    other_own_key,  ///< the same for the actor's key: another speed, or lacp_key
    individual,     ///< the partner does not aggregate this link
    other_policy,   ///< another aggregator with the same partner and keys is used
    waiting,        ///< for other ports that may join
    out_of_sync,    ///< the partner has not selected this link
    not_collecting, ///< the partner does not collect yet
    held,           ///< another link watch than ethtool is down
    drained,        ///< the administrator takes it out of use
};

/// What the kernel's bonding tells of its own LACP (mode 802.3ad; IFLA_BOND_AD_*).
struct BondPort {
    std::uint32_t aggregator = 0;                    ///< 0: none
    std::uint8_t actor_state = 0, partner_state = 0; ///< StateBit
    FrameCounters counters{};                        ///< since it joined
    bool operator==(const BondPort&) const = default;
};
struct BondSystem {
    SystemId actor{};
    bool active = true, fast_rate = false;
    std::uint32_t aggregator = 0; ///< the active one, which has the keys and the partner below
    std::uint16_t actor_key = 0, partner_key = 0;
    MacAddress partner{};
    std::map<IfIndex, BondPort> ports{};
    bool operator==(const BondSystem&) const = default;
};

struct PortStatus {
    bool selected = false;        ///< it belongs to the aggregator of the team
    std::uint32_t aggregator = 0; ///< ifindex of its first port; of bonding: its number; 0: none
    std::string state;            ///< of the receive machine, by teamd's names
    PortInfo actor{}, partner{};
    std::string receive, mux, periodic; ///< states by the standard's names
    ChurnState actor_churn = ChurnState::no_churn, partner_churn = ChurnState::no_churn;
    FrameCounters counters{};
    /// Since the last one; none: there was none.
    std::optional<std::chrono::milliseconds> since_received{}, since_sent{};
    bool fallback = false; ///< carries without a partner
    NotSelected not_selected = NotSelected::none;
    std::string reason; ///< a sentence for `not_selected`; empty: it carries
    bool operator==(const PortStatus&) const = default;
};

} // namespace teamo::lacp

template <>
inline constexpr std::array<std::string_view, 3> teamo::enum_names<teamo::lacp::ChurnState>{"none", "monitor",
                                                                                            "churned"};
