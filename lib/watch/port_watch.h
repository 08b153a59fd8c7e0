// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The link watches of one port: they turn link events and answers into up or down. The time is an argument.
#pragma once

#include "model/status.h"
#include "watch/watch_states.h"

#include <span>
#include <vector>

namespace teamo {

/// All watches of a port that report up or down, combined by the policy. The watch "loss" is none of them: it
/// does not make a port useless (LossState).
class PortWatch {
public:
    static constexpr std::uint32_t never_up = ~std::uint32_t{0};
    struct Start {
        bool up = false; ///< true for a port that carried under an earlier daemon
        /// Its answers were missing then.
        bool unanswered = false;
        /// The configuration has other watches now: whatever was missing, they are trusted.
        bool other_watches = false;
        /// True if only a port that is up can be judged: with LACP a partner passes frames only then.
        bool trusted = false;
        std::uint32_t losses = never_up; ///< as carrier_losses()
    };
    /// The configured watches.
    PortWatch(std::vector<LinkWatch> watches, LinkWatchPolicy policy, Start start);

    /// `losses`: Link::carrier_losses. If it has changed although the link is there, the link was lost and
    /// has returned since the last step. Call it after note_answer(), and at deadline().
    void step(bool link, std::uint32_t losses, Clock::time_point now);
    /// Ends the delays of a link that has returned: they protect nothing while no other port carries.
    void end_delay_up();
    /// After each decision of the runner. Does not change up().
    void note_role(PingState::Role role, Clock::time_point now);
    /// `watch`: its number, in the order of the configuration.
    void note_answer(std::size_t watch);
    /// Whether TIPC has a link by the watch's bearer.
    void note_tipc(std::size_t watch, bool has_links);
    /// The ping watches whose probe must be sent now.
    std::vector<std::size_t> take_due();
    /// As PingState::note_unsent().
    void note_unsent(std::size_t watch, Clock::time_point now);
    bool is_answered(std::size_t watch) const;

    /// Without "loss"; ethtool if there is no other.
    const std::vector<LinkWatch>& watches() const { return watches_; }
    bool up() const;
    /// True if the last step showed that the port was lost, also if it is up again.
    bool has_lost() const { return has_lost_; }
    /// The result of the ethtool watches alone; without any, the device's link.
    bool has_link() const;
    /// True if a port whose link returns is not up at once: its watches have a delay, or wait for an answer.
    bool waits() const;
    /// The losses when the link was last there and the watches up, or never_up.
    std::uint32_t carrier_losses() const { return losses_; }
    std::optional<Clock::time_point> deadline() const;
    std::vector<WatchStatus> status() const;

private:
    using State = std::variant<EthtoolState, PingState, TipcState>;
    std::vector<LinkWatch> watches_;
    LinkWatchPolicy policy_;
    bool link_, has_lost_ = false;
    std::uint32_t losses_;
    std::uint32_t seen_;        ///< losses at the last step with a link, or never_up
    std::vector<State> states_; ///< of watches_, by number
};

/// The ping watch's schedule; none: it is another watch.
std::optional<PingState::Timing> timing_of(const LinkWatch& watch);
/// Of all of them that send probes.
double probes_per_second(std::span<const LinkWatch> watches);

} // namespace teamo
