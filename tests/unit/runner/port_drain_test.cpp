// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/port_drain.h"

#include "runner/runner.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using namespace std::chrono_literals;
using enum DrainPhase;

/// A port under 20,000 packets a second each way, unless its view says otherwise.
class DrainedPort : public testing::Test {
protected:
    /// Steps as the daemon does, each 50 ms.
    DrainPhase after(Clock::duration time) {
        for (const auto until = now_ + time; now_ < until; now_ += 50ms) {
            if (seen_.carries) seen_.sent += 1000;
            if (seen_.partner_sends || is_static_) seen_.received += 1000;
            drain_.step(seen_, now_);
        }
        return drain_.phase();
    }

    Drain drain_{moving};
    Drain::View seen_{.carries = true, .partner_sends = true};
    bool is_static_ = false;
    Clock::time_point now_{1h};
};

TEST_F(DrainedPort, first_stops_sending_then_has_its_partner_stop) {
    EXPECT_EQ(moving, after(10s)) << "its buckets have not moved";
    seen_.carries = false;
    EXPECT_EQ(emptying, after(50ms));
    seen_.backlog = 3000;
    EXPECT_EQ(emptying, after(1s)) << "its queue is not empty";
    seen_.backlog = 0;
    EXPECT_EQ(emptying, after(100ms)) << "nor may its ring be";
    EXPECT_EQ(telling, after(200ms));
    EXPECT_EQ(telling, after(5s)) << "the partner still distributes";
    seen_.partner_sends = false;
    EXPECT_EQ(receiving, after(900ms)) << "what is on its way";
    EXPECT_EQ(drained, after(200ms));
    EXPECT_EQ(0U, drain_.received_per_second());
    EXPECT_EQ(drained, after(10s));
}

TEST_F(DrainedPort, of_a_static_team_is_drained_when_nothing_comes) {
    seen_ = {.carries = false};
    is_static_ = true;
    EXPECT_EQ(receiving, after(5s));
    EXPECT_EQ(20'000U, drain_.received_per_second());
    is_static_ = false;
    EXPECT_EQ(drained, after(2s));
    is_static_ = true;
    EXPECT_EQ(receiving, after(2s)) << "the other end has begun again";
}

/// A switch answers by the port that has asked; the counters of a driver have the probes too.
TEST_F(DrainedPort, does_not_wait_for_its_own_probes) {
    seen_ = {.carries = false, .probes_per_second = 20};
    for (int probe = 0; probe < 60; ++probe, ++seen_.sent, ++seen_.received)
        after(50ms);
    EXPECT_EQ(drained, drain_.phase());
    is_static_ = true;
    EXPECT_EQ(receiving, after(2s)) << "the other end has begun again";
}

TEST_F(DrainedPort, may_hear_of_its_own_link) {
    seen_ = {.carries = false};
    EXPECT_EQ(drained, after(2s));
    for (int second = 0; second < 10; ++second) {
        seen_.received += 3; // LLDP, spanning tree, LACP
        EXPECT_EQ(drained, after(1s));
    }
}

TEST_F(DrainedPort, that_stands_by_may_receive_what_a_switch_floods) {
    seen_ = {.carries = false, .stands_by = true};
    is_static_ = true;
    EXPECT_EQ(drained, after(400ms));
    EXPECT_EQ(drained, after(5s));
}

TEST_F(DrainedPort, begins_anew_when_it_has_carried) {
    seen_ = {.carries = false};
    ASSERT_EQ(drained, after(2s));
    seen_.carries = true; // no other port could
    EXPECT_EQ(moving, after(50ms));
    seen_.carries = false;
    EXPECT_EQ(emptying, after(50ms));
    EXPECT_EQ(drained, after(2s));
}

TEST_F(DrainedPort, goes_on_where_an_earlier_daemon_was) {
    seen_ = {.carries = false};
    Drain later(drained);
    EXPECT_FALSE(later.step(seen_, now_));
    EXPECT_EQ(drained, later.phase());
    EXPECT_EQ(now_ + 1s, later.deadline());
    Drain earlier(emptying);
    earlier.step(seen_, now_);
    EXPECT_EQ(emptying, earlier.phase());
    EXPECT_EQ(now_ + 200ms, earlier.deadline());
}

// ---- what the runners make of it -----------------------------------------------------------------

constexpr IfIndex one{4}, two{5};

Candidate drained_port(IfIndex index, DrainPhase phase, bool up = true) {
    return {.port = index, .up = up, .speed = 1000, .duplex = Duplex::full, .drain = phase};
}

TEST(DrainedCandidate, stands_by_until_no_other_port_can) {
    auto decision = AllPorts::step(std::vector{drained_port(one, moving), drained_port(two, none)});
    EXPECT_THAT(decision.transmit, ElementsAre(one, two)) << "its buckets have yet to move";
    decision = AllPorts::step(std::vector{drained_port(one, drained), drained_port(two, none)});
    EXPECT_THAT(decision.transmit, ElementsAre(two));
    EXPECT_THAT(decision.standby, ElementsAre(one));
    EXPECT_THAT(decision.receive, ElementsAre(one, two));
    decision = AllPorts::step(std::vector{drained_port(one, drained), drained_port(two, none, false)});
    EXPECT_THAT(decision.transmit, ElementsAre(one));
}

TEST(DrainedCandidate, comes_after_one_that_lacks_an_offload) {
    auto lossy = drained_port(two, none);
    lossy.last = true;
    const auto decision = AllPorts::step(std::vector{drained_port(one, drained), lossy});
    EXPECT_THAT(decision.transmit, ElementsAre(two));
    EXPECT_THAT(decision.standby, ElementsAre(one));
}

TEST(DrainedCandidate, is_not_active_though_better_sticky_or_chosen) {
    ActiveBackup runner;
    auto best = drained_port(one, none);
    best.prio = 100;
    best.sticky = true;
    ASSERT_TRUE(runner.choose(one, std::vector{best, drained_port(two, none)}));
    EXPECT_THAT(runner.step(std::vector{best, drained_port(two, none)}).active, Optional(one));
    best.drain = emptying;
    const auto decision = runner.step(std::vector{best, drained_port(two, none)});
    EXPECT_THAT(decision.active, Optional(two));
    EXPECT_THAT(decision.receive, ElementsAre(two, one)) << "neighbours have yet to learn";
    best.drain = drained;
    EXPECT_THAT(runner.step(std::vector{best, drained_port(two, none)}).receive, ElementsAre(two));
    EXPECT_THAT(runner.step(std::vector{best, drained_port(two, none, false)}).active, Optional(one));
}

TEST(DrainedCandidate, changes_its_phase_without_ending_a_choice_by_hand) {
    ActiveBackup runner;
    const auto ports = [](DrainPhase phase) {
        return std::vector{drained_port(IfIndex{3}, none), drained_port(one, none), drained_port(two, phase)};
    };
    ASSERT_TRUE(runner.choose(one, ports(emptying)));
    EXPECT_THAT(runner.step(ports(drained)).active, Optional(one));
    EXPECT_TRUE(runner.is_by_hand());
}

} // namespace
} // namespace teamo
