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

TEST(ActiveBackup, has_no_active_port_if_none_is_up) {
    ActiveBackup runner;
    const auto decision = runner.step(std::vector{port(first, false), port(second, false)});
    EXPECT_EQ(decision.active, std::nullopt);
    EXPECT_THAT(decision.transmit, IsEmpty());
    EXPECT_THAT(decision.receive, IsEmpty());
}

TEST(ActiveBackup, uses_only_first_of_equal_ports) {
    ActiveBackup runner;
    const auto decision = runner.step(std::vector{port(first, true), port(second, true)});
    EXPECT_THAT(decision.active, Optional(first));
    EXPECT_THAT(decision.transmit, ElementsAre(first));
    EXPECT_THAT(decision.receive, ElementsAre(first));
}

TEST(ActiveBackup, prefers_prio_over_speed) {
    ActiveBackup runner;
    EXPECT_THAT(runner.step(std::vector{port(first, true, 0, 10000), port(second, true, 10, 100)}).active,
                Optional(second));
    ActiveBackup reversed; // the result of teamd depends on the order of its list
    EXPECT_THAT(reversed.step(std::vector{port(second, true, 10, 100), port(first, true, 0, 10000)}).active,
                Optional(second));
}

TEST(ActiveBackup, prefers_faster_port_of_equal_prio) {
    ActiveBackup runner;
    EXPECT_THAT(runner.step(std::vector{port(first, true, 0, 100), port(second, true, 0, 1000)}).active,
                Optional(second));
}

TEST(ActiveBackup, prefers_full_duplex_of_equal_prio_and_speed) {
    ActiveBackup runner;
    auto half = port(first, true);
    half.duplex = Duplex::half;
    EXPECT_THAT(runner.step(std::vector{half, port(second, true)}).active, Optional(second));
}

TEST(ActiveBackup, stays_if_equal_port_returns) {
    ActiveBackup runner;
    runner.step(std::vector{port(first, false), port(second, true)});
    EXPECT_THAT(runner.step(std::vector{port(first, true), port(second, true)}).active, Optional(second));
}

TEST(ActiveBackup, returns_to_better_port) {
    ActiveBackup runner;
    runner.step(std::vector{port(first, false, 100), port(second, true)});
    EXPECT_THAT(runner.step(std::vector{port(first, true, 100), port(second, true)}).active, Optional(first));
}

TEST(ActiveBackup, stays_on_sticky_port_if_better_one_returns) {
    ActiveBackup runner;
    runner.step(std::vector{port(first, false, 100), sticky(port(second, true))});
    EXPECT_THAT(runner.step(std::vector{port(first, true, 100), sticky(port(second, true))}).active,
                Optional(second));
}

TEST(ActiveBackup, leaves_sticky_port_that_goes_down) {
    ActiveBackup runner;
    runner.step(std::vector{sticky(port(first, true)), port(second, true)});
    EXPECT_THAT(runner.step(std::vector{sticky(port(first, false)), port(second, true)}).active,
                Optional(second));
}

Candidate at_switch(IfIndex index, bool up, const std::string& id, const std::string& card = "") {
    auto candidate = port(index, up);
    candidate.domain = {.card = card, .at = {.source = SwitchSource::lldp, .id = id}};
    return candidate;
}

TEST(ActiveBackup, takes_the_port_at_another_switch_when_one_is_lost) {
    ActiveBackup runner;
    const auto before = runner.step(std::vector{
        at_switch(first, true, "a", "1"), at_switch(second, true, "a"), at_switch(third, true, "b", "1")});
    EXPECT_THAT(before.active, Optional(first)) << "the order of the ports, while none was lost";
    EXPECT_EQ(before.choice, std::nullopt);
    EXPECT_THAT(before.standby, ElementsAre(third, second)) << "the datapath takes the first with a link";
    const auto after = runner.step(std::vector{
        at_switch(first, false, "a", "1"), at_switch(second, true, "a"), at_switch(third, true, "b", "1")});
    EXPECT_THAT(after.active, Optional(third)) << "a switch counts more than a card";
    EXPECT_EQ(after.choice,
              (ActiveChoice{.chosen = third, .before = second, .lost = first, .part = DomainPart::at}));
    const auto back = runner.step(std::vector{at_switch(first, true, "a", "1"), at_switch(second, true, "a"),
                                              at_switch(third, true, "b", "1")});
    EXPECT_THAT(back.active, Optional(third)) << "an equal port that returns changes nothing";
}

TEST(ActiveBackup, leaves_the_card_of_a_port_whose_device_is_gone) {
    ActiveBackup runner;
    runner.step(std::vector{at_switch(first, true, "a", "1"), at_switch(second, true, "a", "1"),
                            at_switch(third, true, "a", "2")});
    const auto after =
        runner.step(std::vector{at_switch(second, true, "a", "1"), at_switch(third, true, "a", "2")});
    EXPECT_EQ(after.choice,
              (ActiveChoice{.chosen = third, .before = second, .lost = first, .part = DomainPart::card}));
}

TEST(ActiveBackup, prefers_prio_over_another_switch) {
    ActiveBackup runner;
    auto ports =
        std::vector{at_switch(first, true, "a"), at_switch(second, true, "a"), at_switch(third, true, "b")};
    ports[0].prio = 20;
    ports[1].prio = 10;
    EXPECT_THAT(runner.step(ports).standby, ElementsAre(second, third));
    ports[0].up = false;
    const auto after = runner.step(ports);
    EXPECT_THAT(after.active, Optional(second));
    EXPECT_EQ(after.choice, std::nullopt);
}

TEST(ActiveBackup, keeps_the_order_of_ports_for_better_ones_that_come) {
    ActiveBackup runner;
    auto ports =
        std::vector{at_switch(first, true, "a"), at_switch(second, false, "a"), at_switch(third, false, "b")};
    ports[1].prio = ports[2].prio = 10;
    runner.step(ports);
    ports[1].up = ports[2].up = true;
    EXPECT_THAT(runner.step(ports).active, Optional(second)) << "no port was lost";
}

TEST(ActiveBackup, keeps_manual_choice_while_it_learns_the_switches) {
    ActiveBackup runner;
    const std::vector ports{port(first, true, 100), port(second, true)};
    runner.step(ports);
    ASSERT_TRUE(runner.choose(second, ports));
    auto learned = ports;
    learned[0].domain.at = {.source = SwitchSource::lldp, .id = "a"};
    EXPECT_THAT(runner.step(learned).active, Optional(second));
}

TEST(ActiveBackup, keeps_manual_choice_until_ports_change) {
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

TEST(ActiveBackup, rejects_choice_of_down_or_unknown_port) {
    ActiveBackup runner;
    const std::vector ports{port(first, true), port(second, false)};
    runner.step(ports);
    EXPECT_FALSE(runner.choose(second, ports));
    EXPECT_FALSE(runner.choose(third, ports));
    EXPECT_THAT(runner.step(ports).active, Optional(first));
}

TEST(ActiveBackup, continues_with_port_of_earlier_daemon) {
    ActiveBackup runner(second);
    EXPECT_THAT(runner.step(std::vector{port(first, true), port(second, true)}).active, Optional(second));
}

TEST(ActiveBackup, continues_a_manual_choice_of_an_earlier_daemon_only_while_it_is_up) {
    ActiveBackup kept(second, true);
    EXPECT_EQ(second, kept.step(std::array{port(first, true, 9), port(second, true)}).active);
    EXPECT_TRUE(kept.is_by_hand());

    ActiveBackup lost(second, true);
    EXPECT_EQ(first, lost.step(std::array{port(first, true), port(second, false)}).active);
    EXPECT_FALSE(lost.is_by_hand()) << "nobody chose the first one";
}

TEST(ActiveBackup, has_other_ports_on_standby_best_first) {
    ActiveBackup runner;
    const auto decision =
        runner.step(std::vector{port(first, true, 1), port(second, true, 9), port(third, true, 5)});
    EXPECT_THAT(decision.standby, ElementsAre(third, first));
    EXPECT_THAT(
        runner.step(std::vector{port(first, true), port(second, true, 9), port(third, false)}).standby,
        ElementsAre(first));
}

TEST(AllPorts, transmits_by_ports_that_are_up_and_receives_from_all) {
    const auto decision = AllPorts::step(std::vector{port(first, true), port(second, false)});
    EXPECT_THAT(decision.transmit, ElementsAre(first));
    EXPECT_THAT(decision.receive, ElementsAre(first, second));
    EXPECT_EQ(decision.active, std::nullopt);
}

Candidate demoted(Candidate candidate) {
    candidate.last = true;
    return candidate;
}

TEST(AllPorts, leaves_out_demoted_port_while_another_is_up) {
    EXPECT_THAT(AllPorts::step(std::vector{demoted(port(first, true)), port(second, true)}).transmit,
                ElementsAre(second));
    EXPECT_THAT(AllPorts::step(std::vector{demoted(port(first, true)), port(second, true)}).standby,
                ElementsAre(first));
    EXPECT_THAT(AllPorts::step(std::vector{demoted(port(first, true)), port(second, false)}).transmit,
                ElementsAre(first));
    EXPECT_THAT(AllPorts::step(std::vector{demoted(port(first, true)), port(second, true)}).receive,
                ElementsAre(first, second));
}

TEST(ActiveBackup, uses_demoted_port_only_without_others) {
    ActiveBackup runner;
    EXPECT_THAT(runner.step(std::vector{demoted(port(first, true, 100)), port(second, true)}).active,
                Optional(second));
    EXPECT_THAT(runner.step(std::vector{demoted(port(first, true, 100)), port(second, false)}).active,
                Optional(first));
    // Not even a sticky port stays active.
    EXPECT_THAT(runner.step(std::vector{sticky(demoted(port(first, true))), port(second, true)}).active,
                Optional(second));
}

} // namespace
} // namespace teamo
