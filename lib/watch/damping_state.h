// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Keeps a port that loses its link again and again out of use while others can carry. A value: losses and the
// time in, suppressed or not out.
#pragma once

#include "base/clock.h"
#include "model/config.h"
#include "model/damping.h"

#include <optional>

namespace teamo {

/// As the damping of routes (RFC 2439) and of interfaces: each loss adds a penalty, which halves every
/// half_life. Above `suppress` the port is suppressed until the penalty has fallen to `reuse`, but not longer
/// than max_suppress after its last loss.
class Damping {
public:
    enum class Change : std::uint8_t { none, suppressed, reused };

    explicit Damping(DampingConfig config, const DampingMemory& memory = {});

    void note_loss(Clock::time_point now);
    /// Call it after note_loss(), and at deadline().
    Change step(Clock::time_point now);
    /// The penalty stays.
    void change(const DampingConfig& config);

    bool is_suppressed() const { return since_.has_value(); }
    /// Since it was suppressed, or how long it was until the last step().
    Clock::duration suppressed_for(Clock::time_point now) const { return since_ ? now - *since_ : lasted_; }
    std::optional<Clock::time_point> deadline() const;
    DampingStatus status(Clock::time_point now) const;
    DampingMemory memory() const;

private:
    double penalty(Clock::time_point now) const;

    DampingConfig config_;
    double penalty_ = 0;                     ///< at changed_
    Clock::time_point changed_{};            ///< of the last loss, or of the last end
    std::optional<Clock::time_point> since_; ///< suppressed
    bool announced_ = false;                 ///< by step(): it is suppressed
    Clock::duration lasted_{};
};

} // namespace teamo
