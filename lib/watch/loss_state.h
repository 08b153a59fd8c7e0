// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "model/config.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace teamo {

/// The link watch "loss" of one port: a port that loses packets is taken out while others carry, and tried
/// again with growing patience. If the loss goes on in the same buckets at other ports, it is the flows' and
/// not the port's: the port comes back.
class LossState {
public:
    enum class Change : std::uint8_t { none, taken_out, tried_again, excused };

    /// The finding about the port, if there is one that taking it out would help.
    struct Evidence {
        bool by_flows = false;
        double lost = 0; ///< per mille
        std::vector<std::uint8_t> buckets{};
    };

    explicit LossState(LossWatch watch) : watch_(watch) {}

    /// `lost_elsewhere`: what the buckets of suspects() lose now, per mille; none: not known.
    Change step(const std::optional<Evidence>& evidence, std::optional<double> lost_elsewhere,
                Clock::time_point now);

    bool is_out() const { return out_; }
    /// The buckets that lost packets when the port was taken out.
    const std::vector<std::uint8_t>& suspects() const { return suspects_; }
    /// When it is tried again.
    std::optional<Clock::time_point> next_try() const { return out_ ? std::optional(until_) : std::nullopt; }
    const LossWatch& watch() const { return watch_; }

private:
    LossWatch watch_;
    bool out_ = false;
    unsigned tries_ = 0; ///< times that it was taken out, since it was good for long
    std::vector<std::uint8_t> suspects_;
    double lost_ = 0;                     ///< by the suspects, when it was taken out
    Clock::time_point since_{}, until_{}; ///< of the present state; until_: of the next try
    Clock::time_point excused_until_{};
};

} // namespace teamo
