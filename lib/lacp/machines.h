// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The machines of one port, and the variables that they share, by the standard's names. IEEE 802.1AX-2020,
// 6.4.4 to 6.4.16.
#pragma once

#include "base/clock.h"
#include "lacp/lacpdu.h"

#include <array>
#include <optional>
#include <tuple>

namespace teamo::lacp {

// Constants (6.4.4).
inline constexpr std::chrono::seconds fast_periodic_time{1}, slow_periodic_time{30};
inline constexpr std::chrono::seconds short_timeout_time{3}, long_timeout_time{90};
inline constexpr std::chrono::seconds churn_detection_time{60}, aggregate_wait_time{2};

/// What identifies a link, and what an aggregate is formed by (6.3.6): a change of it needs a new selection.
/// Not what is only told to the partner.
inline auto identity_of(const PortInfo& info) {
    return std::tuple(info.port, info.system, info.key, info.is(StateBit::aggregation));
}

/// Whether the selection logic has found an aggregator for the port.
enum class Selected : std::uint8_t { unselected, selected, standby };

struct PortVariables {
    PortInfo actor{};         ///< Actor_Oper: what our LACPDUs say of this port
    PortInfo partner{};       ///< Partner_Oper: what the last LACPDU said, or partner_admin
    PortInfo partner_admin{}; ///< Partner_Admin: used while no partner answers
    bool port_enabled = false;
    bool lacp_enabled = true;
    bool port_moved = false; ///< its partner has appeared at another port
    bool ntt = false;        ///< Need To Transmit
    Selected selected = Selected::unselected;
    bool held = false;  ///< not in the standard: must not distribute, because a link watch is down
    bool ready = false; ///< all ports that wait for this aggregator have waited long enough

    /// Neither side sends without being asked.
    bool both_passive() const { return !actor.is(StateBit::activity) && !partner.is(StateBit::activity); }
};

enum class ReceiveState : std::uint8_t {
    initialize,
    port_disabled,
    expired,
    lacp_disabled,
    defaulted,
    current
};

/// The receive machine: what is known of the partner (6.4.12).
class ReceiveMachine {
public:
    /// Takes a LACPDU that has arrived, if any. Call it also when port_enabled, lacp_enabled or port_moved
    /// has changed, and at deadline().
    void step(PortVariables& port, const Lacpdu* pdu, Clock::time_point now);

    /// Continues in `current`, or in `defaulted`, as another daemon left it.
    void restore(ReceiveState state, Clock::time_point now, const PortVariables& port);

    ReceiveState state() const { return state_; }
    /// When current_while_timer expires.
    std::optional<Clock::time_point> deadline() const { return current_while_; }

private:
    void enter(ReceiveState state, PortVariables& port, const Lacpdu* pdu, Clock::time_point now);
    std::optional<ReceiveState> next(const PortVariables& port, const Lacpdu* pdu,
                                     Clock::time_point now) const;

    ReceiveState state_ = ReceiveState::initialize;
    bool begun_ = false;
    std::optional<Clock::time_point> current_while_;
};

enum class PeriodicState : std::uint8_t { no_periodic, fast_periodic, slow_periodic };

/// The periodic transmission machine: a LACPDU each second or every 30 seconds, as the partner wants
/// (6.4.13).
class PeriodicMachine {
public:
    /// Sets PortVariables::ntt when a LACPDU is due. Call it after the receive machine, and at deadline().
    void step(PortVariables& port, Clock::time_point now);

    PeriodicState state() const { return state_; }
    /// When periodic_timer expires.
    std::optional<Clock::time_point> deadline() const { return periodic_; }

private:
    PeriodicState state_ = PeriodicState::no_periodic;
    std::optional<Clock::time_point> periodic_;
};

/// With coupled control, `distributing` is the standard's COLLECTING_DISTRIBUTING, and `collecting` is not
/// used.
enum class MuxState : std::uint8_t { detached, waiting, attached, collecting, distributing };

/// Whether a port can receive without transmitting.
enum class MuxControl : std::uint8_t { coupled, independent };

/// The mux machine: attaches the port to its aggregator, and lets it collect and distribute (6.4.14).
class MuxMachine {
public:
    explicit MuxMachine(MuxControl control) : control_(control) {}

    /// Sets the actor's synchronization, collecting and distributing, and PortVariables::ntt. Call it after
    /// the selection logic, and at deadline().
    void step(PortVariables& port, Clock::time_point now);

    /// Continues where another daemon was, by the actor's state.
    void restore(const PortVariables& port);

    MuxState state() const { return state_; }
    /// Ready_N: the port has waited long enough for others to join the same aggregator.
    bool has_waited(Clock::time_point now) const {
        return state_ == MuxState::waiting && wait_while_ && now >= *wait_while_;
    }
    /// When wait_while_timer expires.
    std::optional<Clock::time_point> deadline() const { return wait_while_; }

private:
    std::optional<MuxState> next(const PortVariables& port) const;
    void enter(MuxState state, PortVariables& port, Clock::time_point now);

    MuxControl control_;
    MuxState state_ = MuxState::detached;
    std::optional<Clock::time_point> wait_while_;
};

/// The transmit machine: when a needed LACPDU may be sent (6.4.15).
class TransmitMachine {
public:
    /// True: send a LACPDU now. Then call note_sent() or note_failed().
    bool may_send(const PortVariables& port, Clock::time_point now) const;
    void note_sent(PortVariables& port, Clock::time_point now);
    /// Keeps NTT, and waits a moment.
    void note_failed(Clock::time_point now);
    /// When a LACPDU that waits may be sent.
    std::optional<Clock::time_point> deadline(const PortVariables& port) const;

private:
    /// When another one may be sent; none: at once.
    std::optional<Clock::time_point> next(const PortVariables& port) const;

    static constexpr std::size_t at_once = 3;                      ///< in any Fast_Periodic_Time
    std::array<std::optional<Clock::time_point>, at_once> sent_{}; ///< the oldest first
    PortInfo sent_actor_{}, sent_partner_{};                       ///< by the last one
    std::optional<Clock::time_point> retry_{};                     ///< after a failure
};

/// Churn detection: a side does not get into synchronization within 60 seconds (6.4.16). One machine for the
/// actor, one for the partner.
class ChurnMachine {
public:
    /// `in_sync`: that side's synchronization.
    void step(bool port_enabled, bool in_sync, Clock::time_point now);

    ChurnState state() const { return state_; }
    std::optional<Clock::time_point> deadline() const { return detection_; }

private:
    ChurnState state_ = ChurnState::no_churn;
    std::optional<Clock::time_point> detection_;
};

} // namespace teamo::lacp

template <>
inline constexpr std::array<std::string_view, 6> teamo::enum_names<teamo::lacp::ReceiveState>{
    "initialize", "port_disabled", "expired", "lacp_disabled", "defaulted", "current"};
template <>
inline constexpr std::array<std::string_view, 3> teamo::enum_names<teamo::lacp::PeriodicState>{
    "no_periodic", "fast_periodic", "slow_periodic"};
template <>
inline constexpr std::array<std::string_view, 5> teamo::enum_names<teamo::lacp::MuxState>{
    "detached", "waiting", "attached", "collecting", "distributing"};
