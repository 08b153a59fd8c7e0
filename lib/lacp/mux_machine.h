// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The mux machine: attaches the port to its aggregator, and lets it collect and distribute.
// IEEE 802.1AX-2020, 6.4.14.
#pragma once

#include "base/named.h"
#include "lacp/variables.h"

#include <optional>

namespace teamo::lacp {

/// With coupled control, `distributing` is the standard's COLLECTING_DISTRIBUTING, and `collecting` is not
/// used.
enum class MuxState : std::uint8_t { detached, waiting, attached, collecting, distributing };

/// Whether a port can receive without transmitting.
enum class MuxControl : std::uint8_t { coupled, independent };

class MuxMachine {
public:
    explicit MuxMachine(MuxControl control, std::chrono::milliseconds wait = aggregate_wait_time)
        : control_(control), wait_(wait) {}

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
    std::chrono::milliseconds wait_;
    MuxState state_ = MuxState::detached;
    std::optional<Clock::time_point> wait_while_;
};

} // namespace teamo::lacp

template <>
inline constexpr std::array<std::string_view, 5> teamo::enum_names<teamo::lacp::MuxState>{
    "detached", "waiting", "attached", "collecting", "distributing"};
