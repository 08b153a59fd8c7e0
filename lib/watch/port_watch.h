// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The link watches of one port: they turn link events into up or down. The time is an argument.
#pragma once

#include "base/clock.h"
#include "model/config.h"
#include "model/status.h"

#include <chrono>
#include <optional>
#include <vector>

namespace teamo {

/// teamd's "ethtool" watch (teamd_lw_ethtool.c): the device's link, with optional delays for up and down. A
/// change that reverts within the delay is ignored.
class EthtoolState {
public:
    /// `up`: the initial state; true for a port that carried under an earlier daemon.
    EthtoolState(EthtoolWatch watch, bool up) : watch_(watch), up_(up) {}

    /// Takes the present link of the device; call it also at deadline().
    void step(bool link, Clock::time_point now);

    bool up() const { return up_; }
    std::uint32_t down_count() const { return down_count_; }
    const EthtoolWatch& watch() const { return watch_; }
    /// When to call step() again even without an event.
    std::optional<Clock::time_point> deadline() const { return deadline_; }

private:
    EthtoolWatch watch_;
    bool up_;
    std::uint32_t down_count_ = 0;
    std::optional<Clock::time_point> deadline_; ///< when the pending change takes effect
};

/// All watches of a port, combined by the policy.
class PortWatch {
public:
    static constexpr std::uint32_t never_up = ~std::uint32_t{0};
    /// `losses`: as carrier_losses().
    PortWatch(const std::vector<LinkWatch>& watches, LinkWatchPolicy policy, bool up,
              std::uint32_t losses = never_up);

    /// `losses`: Link::carrier_losses. If it has changed although the link is there, the link was lost and
    /// has returned since the last step.
    void step(bool link, std::uint32_t losses, Clock::time_point now);
    bool up() const;
    /// True if a port whose link returns is not up at once: its watches have a delay.
    bool waits() const;
    /// The losses when the link was last there and the watches up, or never_up.
    std::uint32_t carrier_losses() const { return losses_; }
    std::optional<Clock::time_point> deadline() const;
    std::vector<WatchStatus> status() const;

private:
    LinkWatchPolicy policy_;
    std::uint32_t losses_;
    std::vector<EthtoolState> states_;
};

/// The name of the first watch that is not implemented; empty: all are.
std::string_view unsupported_watch(const std::vector<LinkWatch>& watches);

} // namespace teamo
