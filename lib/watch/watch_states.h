// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of each kind of link watch, of one port. Values: links, answers and the time in, up or down out.
#pragma once

#include "base/clock.h"
#include "model/config.h"

#include <cstdint>
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

    /// A link that waits for its delay is up.
    void end_delay_up();

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

/// Whether a watch is up with its link until answers are missing, because a port that is not up cannot be
/// judged (LACP). next_link: only from the next link on; under an earlier daemon this one had no answers.
enum class Trust : std::uint8_t { no, next_link, yes };

/// When the probes of a ping watch are sent, and what missing answers mean (teamd_lw_psr.c: arp_ping,
/// nsna_ping). The watch goes up with the first answer, and down when more than missed_max answers in a row
/// are missing. teamd notices a dead target up to interval * (missed_max + 2) after its last answer; here
/// the probes that follow a missing answer are sent a little sooner, so that it is interval * (missed_max +
/// 1); with missed_max 0 it is up to one and a half intervals.
class PingState {
public:
    struct Timing {
        std::chrono::milliseconds interval{1000};
        std::chrono::milliseconds init_wait{0}; ///< before the first probe
        std::uint32_t missed_max = 3;
    };

    /// What the port does, by the last decision of the runner.
    struct Role {
        /// Frames pass: false for a port that waits for its LACP partner. Missing answers do not count then,
        /// and a watch that is down goes up after a while, to be tried again.
        bool passes = true;
        /// It sends probes. A port that does not only listens.
        bool sends = true;
        bool operator==(const Role&) const = default;
    };

    /// `up`: the initial state; true for a port that carried under an earlier daemon.
    PingState(Timing timing, bool up, Trust trust = Trust::no) : timing_(timing), trust_(trust), up_(up) {}

    /// Takes the present link of the device. Call it after note_answer(), and at deadline().
    void step(bool link, Clock::time_point now);
    /// Does not change up().
    void note_role(Role role, Clock::time_point now);
    /// A frame has arrived that shows that the target can be reached.
    void note_answer();
    /// The probe could not be sent, because the address of the target is not known yet: that is no missing
    /// answer, and it is due again soon.
    void note_unsent(Clock::time_point now);
    /// True once for each probe: send it now.
    bool take_due();

    bool up() const { return up_; }
    std::uint32_t down_count() const { return down_count_; }
    std::uint32_t missed() const { return missed_; }
    /// An answer has arrived since the last probe, so that no other is needed until the next.
    bool is_answered() const { return answered_; }
    std::optional<Clock::time_point> deadline() const { return deadline_; }

private:
    std::chrono::milliseconds patience() const;
    void begin_period(Clock::time_point now);
    void begin_wait(Clock::time_point now);
    void set_down();

    Timing timing_;
    Trust trust_;
    bool up_;
    Role role_{};
    bool link_ = false;
    bool started_ = false; ///< the link is there, and init_wait is over
    bool answered_ = false, due_ = false, unsent_ = false;
    std::uint32_t missed_ = 0, down_count_ = 0;
    Clock::time_point period_{};                ///< when the present period began
    std::optional<Clock::time_point> deadline_; ///< of the period, of init_wait, or of the next try
    unsigned tries_ = 0;                        ///< since the last answer, of a port that did not pass
};

/// The link watch "tipc": TIPC has a link by the port's bearer.
class TipcState {
public:
    /// As those of PingState.
    explicit TipcState(bool up, Trust trust = Trust::no) : trust_(trust), up_(up), has_links_(up) {}

    void step(bool link, Clock::time_point now);
    void note_role(PingState::Role role, Clock::time_point now);
    void note(bool has_links) { has_links_ = has_links; }

    bool up() const { return up_; }
    std::uint32_t down_count() const { return down_count_; }
    std::optional<Clock::time_point> deadline() const { return deadline_; }

private:
    Trust trust_;
    bool up_, has_links_;
    bool link_ = false, passes_ = true;
    unsigned tries_ = 0;
    std::uint32_t down_count_ = 0;
    /// While frames pass: until then a missing link does not count, because TIPC needs a moment. While they
    /// do not: of the next try.
    std::optional<Clock::time_point> deadline_;
};

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
