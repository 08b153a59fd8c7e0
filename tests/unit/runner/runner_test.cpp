// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/runner.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr IfIndex first{4}, second{5}, third{6};

Candidate port(IfIndex index, bool up, std::int32_t prio = 0, std::uint32_t speed = 1000) {
    return {.port = index, .up = up, .prio = prio, .sticky = false, .speed = speed, .duplex = Duplex::full};
}

Candidate sticky(Candidate candidate) {
    candidate.sticky = true;
    return candidate;
}

TEST(ActiveBackup, has_no_active_port_while_none_is_up) {
    ActiveBackup runner;
    const auto decision = runner.step(std::vector{port(first, false), port(second, false)});
    EXPECT_EQ(decision.active, std::nullopt);
    EXPECT_THAT(decision.transmit, IsEmpty());
    EXPECT_THAT(decision.receive, IsEmpty());
}

TEST(ActiveBackup, takes_the_first_of_equals_and_lets_only_it_carry) {
    ActiveBackup runner;
    const auto decision = runner.step(std::vector{port(first, true), port(second, true)});
    EXPECT_THAT(decision.active, Optional(first));
    EXPECT_THAT(decision.transmit, ElementsAre(first));
    EXPECT_THAT(decision.receive, ElementsAre(first));
}

TEST(ActiveBackup, takes_the_highest_prio_though_another_is_faster) {
    ActiveBackup runner;
    EXPECT_THAT(runner.step(std::vector{port(first, true, 0, 10000), port(second, true, 10, 100)}).active,
                Optional(second));
    ActiveBackup reversed; // teamd's answer depends on the order of its list
    EXPECT_THAT(reversed.step(std::vector{port(second, true, 10, 100), port(first, true, 0, 10000)}).active,
                Optional(second));
}

TEST(ActiveBackup, takes_the_faster_of_equal_prio) {
    ActiveBackup runner;
    EXPECT_THAT(runner.step(std::vector{port(first, true, 0, 100), port(second, true, 0, 1000)}).active,
                Optional(second));
}

TEST(ActiveBackup, takes_the_full_duplex_one_of_equal_prio_and_speed) {
    ActiveBackup runner;
    auto half = port(first, true);
    half.duplex = Duplex::half;
    EXPECT_THAT(runner.step(std::vector{half, port(second, true)}).active, Optional(second));
}

TEST(ActiveBackup, stays_when_an_equal_port_comes_back) {
    ActiveBackup runner;
    runner.step(std::vector{port(first, false), port(second, true)});
    EXPECT_THAT(runner.step(std::vector{port(first, true), port(second, true)}).active, Optional(second));
}

TEST(ActiveBackup, goes_back_to_a_better_port) {
    ActiveBackup runner;
    runner.step(std::vector{port(first, false, 100), port(second, true)});
    EXPECT_THAT(runner.step(std::vector{port(first, true, 100), port(second, true)}).active, Optional(first));
}

TEST(ActiveBackup, stays_on_a_sticky_port_when_a_better_one_comes_back) {
    ActiveBackup runner;
    runner.step(std::vector{port(first, false, 100), sticky(port(second, true))});
    EXPECT_THAT(runner.step(std::vector{port(first, true, 100), sticky(port(second, true))}).active,
                Optional(second));
}

TEST(ActiveBackup, leaves_a_sticky_port_that_goes_down) {
    ActiveBackup runner;
    runner.step(std::vector{sticky(port(first, true)), port(second, true)});
    EXPECT_THAT(runner.step(std::vector{sticky(port(first, false)), port(second, true)}).active,
                Optional(second));
}

TEST(ActiveBackup, keeps_a_port_chosen_by_hand_until_the_ports_change) {
    ActiveBackup runner;
    const std::vector ports{port(first, true, 100), port(second, true), port(third, true)};
    runner.step(ports);
    ASSERT_TRUE(runner.choose(second, ports));
    EXPECT_THAT(runner.step(ports).active, Optional(second));
    EXPECT_THAT(runner.step(ports).active, Optional(second));
    auto changed = ports;
    changed[2].up = false;
    EXPECT_THAT(runner.step(changed).active, Optional(first)) << "as teamd: the best port counts again";
}

TEST(ActiveBackup, refuses_a_choice_that_is_down_or_no_port) {
    ActiveBackup runner;
    const std::vector ports{port(first, true), port(second, false)};
    runner.step(ports);
    EXPECT_FALSE(runner.choose(second, ports));
    EXPECT_FALSE(runner.choose(third, ports));
    EXPECT_THAT(runner.step(ports).active, Optional(first));
}

TEST(ActiveBackup, goes_on_with_the_port_of_an_earlier_daemon) {
    ActiveBackup runner(second);
    EXPECT_THAT(runner.step(std::vector{port(first, true), port(second, true)}).active, Optional(second));
}

TEST(AllPorts, send_by_those_that_are_up_and_deliver_from_all) {
    const auto decision = AllPorts::step(std::vector{port(first, true), port(second, false)});
    EXPECT_THAT(decision.transmit, ElementsAre(first));
    EXPECT_THAT(decision.receive, ElementsAre(first, second));
    EXPECT_EQ(decision.active, std::nullopt);
}

Candidate last(Candidate candidate) {
    candidate.last = true;
    return candidate;
}

TEST(AllPorts, leave_out_the_last_while_another_is_up) {
    EXPECT_THAT(AllPorts::step(std::vector{last(port(first, true)), port(second, true)}).transmit,
                ElementsAre(second));
    EXPECT_THAT(AllPorts::step(std::vector{last(port(first, true)), port(second, false)}).transmit,
                ElementsAre(first));
    EXPECT_THAT(AllPorts::step(std::vector{last(port(first, true)), port(second, true)}).receive,
                ElementsAre(first, second));
}

TEST(ActiveBackup, takes_the_last_only_where_there_is_no_other) {
    ActiveBackup runner;
    EXPECT_THAT(runner.step(std::vector{last(port(first, true, 100)), port(second, true)}).active,
                Optional(second));
    EXPECT_THAT(runner.step(std::vector{last(port(first, true, 100)), port(second, false)}).active,
                Optional(first));
    // Not even a sticky one stays then.
    EXPECT_THAT(runner.step(std::vector{sticky(last(port(first, true))), port(second, true)}).active,
                Optional(second));
}

} // namespace
} // namespace teamo
