// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Selection (IEEE 802.1AX-2020, 6.4.10), and what is sent.
#include "system_fixture.h"

namespace teamo::lacp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(SystemTest, sends_at_once_when_a_port_comes_up) {
    plug(1);
    EXPECT_EQ(1, sent_[1]);
    EXPECT_EQ(own_address, last_[1].actor.system.address);
    EXPECT_TRUE(last_[1].actor.is(expired));
}

TEST_F(SystemTest, aggregates_ports_of_one_partner) {
    plug(1);
    plug(2);
    hear(1);
    EXPECT_THAT(distributing_ports(), IsEmpty()); // port 2 may join in
    hear(2);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1), port(2)));
    EXPECT_FALSE(system().carrying().falls_back);
    EXPECT_EQ(0x3f, last_[1].actor.state);
}

TEST_F(SystemTest, waits_for_a_silent_port_no_longer_than_two_seconds) {
    plug(1);
    plug(2);
    hear(1);
    advance(1s);
    hear(1);
    EXPECT_THAT(distributing_ports(), IsEmpty());
    advance(1s);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
}

TEST_F(SystemTest, keeps_other_partners_keys_and_speeds_out) {
    for (const auto number : std::to_array<std::uint16_t>({1, 2, 3, 5}))
        plug(number);
    plug(4, 100);
    links_[4].port = port(4);
    links_[4].number = 4;
    update();
    hear(1);
    hear(2, {.system = 3});
    hear(3, {.key = 8});
    hear(4);
    hear(5, {.bits = {activity, timeout, synchronization}});
    advance(2s);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
    EXPECT_THAT(reason(2), HasSubstr("check the cables"));
    EXPECT_THAT(reason(3), HasSubstr("partner's key is 8, the team's is 7"));
    EXPECT_THAT(reason(4), HasSubstr("100 Mbit/s"));
    EXPECT_THAT(reason(5), HasSubstr("does not aggregate"));
    EXPECT_FALSE(last_[2].actor.is(synchronization));
    EXPECT_EQ("", reason(1));
}

TEST_F(SystemTest, lets_a_written_key_win_over_the_speed) {
    plug(1);
    plug(2, 100);
    link(1).key = link(2).key = 5;
    update();
    hear(1);
    hear(2);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1), port(2)));
}

TEST_F(SystemTest, does_not_aggregate_half_duplex) {
    plug(1);
    plug(2);
    link(2).duplex = Duplex::half;
    update();
    hear(1);
    hear(2);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
    EXPECT_THAT(reason(2), HasSubstr("half duplex"));
}

TEST_F(SystemTest, stops_in_the_step_of_the_frame_that_says_the_partner_goes) {
    plug(1);
    hear(1);
    ASSERT_THAT(distributing_ports(), ElementsAre(port(1)));
    hear(1, {.bits = {activity, timeout, aggregation}});
    EXPECT_THAT(distributing_ports(), IsEmpty());
    EXPECT_THAT(reason(1), HasSubstr("no synchronization"));
}

TEST_F(SystemTest, leaves_a_silent_partner_after_three_seconds) {
    plug(1);
    hear(1);
    advance(2999ms);
    EXPECT_FALSE(distributing_ports().empty());
    advance(1ms);
    EXPECT_THAT(distributing_ports(), IsEmpty());
    EXPECT_EQ("expired", system().status(port(1), now).state);
    advance(3s);
    EXPECT_EQ("defaulted", system().status(port(1), now).state);
}

TEST_F(SystemTest, changes_nothing_by_its_own_lacpdus) {
    plug(1);
    hear(1, last_[1]);
    EXPECT_EQ(1U, system().status(port(1), now).counters.looped_received);
    EXPECT_EQ(0U, system().status(port(1), now).counters.lacpdus_received);
    EXPECT_THAT(reason(1), HasSubstr("come back"));
    advance(3s);
    EXPECT_THAT(distributing_ports(), IsEmpty());
}

TEST_F(SystemTest, counts_what_it_cannot_use) {
    plug(1);
    auto frame = build_frame(last_[1], {});
    EXPECT_FALSE(system().receive(port(1), std::span(frame).first(60), now));
    frame[14] = std::byte{9};
    EXPECT_FALSE(system().receive(port(1), frame, now));
    EXPECT_FALSE(system().receive(port(9), frame, now));
    EXPECT_EQ(1U, system().status(port(1), now).counters.illegal_received);
    EXPECT_EQ(1U, system().status(port(1), now).counters.unknown_received);
}

TEST_F(SystemTest, reads_ten_frames_in_a_second) {
    plug(1);
    for (int count = 0; count < 100; ++count)
        hear(1, {.port_priority = static_cast<std::uint16_t>(count)});
    EXPECT_EQ(10U, system().status(port(1), now).counters.lacpdus_received);
    EXPECT_EQ(90U, system().status(port(1), now).counters.excess_received);
    advance(1s);
    hear(1);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
}

TEST_F(SystemTest, is_not_taken_down_by_a_new_partner_that_never_synchronizes) {
    plug(1);
    hear(1);
    plug(2);
    hear(2, {.system = 3, .priority = 1, .bits = {activity, timeout, aggregation}}); // the better rank
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
    hear(2, {.system = 3, .priority = 1});
    EXPECT_THAT(distributing_ports(), ElementsAre(port(2)));
}

TEST_F(SystemTest, continues_in_fallback) {
    settings_.fallback = LacpFallback::one_port;
    plug(1);
    advance(3s);
    ASSERT_THAT(distributing_ports(), ElementsAre(port(1)));
    System next(settings_);
    next.restore(port(1), system().memory(port(1)));
    next.update(links_, now);
    EXPECT_THAT(next.carrying().distributing, ElementsAre(port(1)));
}

TEST_F(SystemTest, leaves_a_held_port_in_fallback) {
    begin_fallback(LacpFallback::one_port);
    ASSERT_THAT(distributing_ports(), ElementsAre(port(1)));
    link(1).held = true;
    update();
    EXPECT_THAT(distributing_ports(), ElementsAre(port(2)));
    link(2).held = true;
    update();
    EXPECT_THAT(distributing_ports(), testing::SizeIs(1)) << "no port is better than the others";
}

TEST_F(SystemTest, does_not_send_by_a_held_port_with_fallback_of_all) {
    begin_fallback(LacpFallback::all_ports);
    ASSERT_THAT(distributing_ports(), ElementsAre(port(1), port(2)));
    link(1).held = true;
    update();
    EXPECT_THAT(distributing_ports(), ElementsAre(port(2)));
    EXPECT_THAT(system().carrying().collecting, ElementsAre(port(1), port(2)));
}

TEST_F(SystemTest, counts_other_slow_protocols_apart) {
    plug(1);
    auto oam = build_frame(Marker{}, {});
    oam.at(14) = std::byte{3}; // the subtype
    for (int count = 0; count < 20; ++count)
        system().receive(port(1), oam, now);
    system().receive(port(1), build_frame(Marker{.requester_port = 4}, {}), now);
    EXPECT_EQ(1U, system().status(port(1), now).counters.markers_received);
    EXPECT_EQ(0U, system().status(port(1), now).counters.excess_received);
}

TEST_F(SystemTest, answers_markers_with_a_bound) {
    plug(1);
    const auto frame = build_frame(Marker{.requester_port = 4, .transaction = 1}, {});
    for (int count = 0; count < 100; ++count)
        system().receive(port(1), frame, now);
    const auto due = system().due(now);
    ASSERT_EQ(5U, due.size());
    EXPECT_EQ((Marker{.is_response = true, .requester_port = 4, .transaction = 1}),
              std::get<Marker>(due.front().frame));
    EXPECT_EQ(10U, system().status(port(1), now).counters.markers_received);
}

TEST_F(SystemTest, says_farewell_when_a_port_leaves) {
    plug(1);
    plug(2);
    hear(1);
    hear(2);
    links_.pop_back();
    advance(2s);
    sent_.clear();
    update();
    EXPECT_EQ(1, sent_[2]);
    EXPECT_FALSE(last_[2].actor.is(synchronization));
    EXPECT_FALSE(last_[2].actor.is(distributing));
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
}

TEST_F(SystemTest, begins_again_after_a_loss_that_nobody_saw) {
    plug(1);
    hear(1);
    ++link(1).losses;
    update();
    EXPECT_THAT(distributing_ports(), IsEmpty());
    EXPECT_EQ("expired", system().status(port(1), now).receive);
    advance(1s);
    hear(1);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
}

TEST_F(SystemTest, continues_with_the_partner_of_an_earlier_daemon) {
    plug(1);
    hear(1);
    const auto memory = system().memory(port(1));
    System next(settings_);
    next.restore(port(1), memory);
    now += 500ms;
    next.update(links_, now);
    EXPECT_THAT(next.carrying().distributing, ElementsAre(port(1)));
    const auto due = next.due(now);
    ASSERT_EQ(1U, due.size()); // at once
    EXPECT_EQ(0x3f, std::get<Lacpdu>(due.front().frame).actor.state);
}

TEST_F(SystemTest, begins_anew_with_a_partner_that_did_not_collect_yet) {
    plug(1);
    hear(1, {.bits = {activity, timeout, aggregation, synchronization}});
    System next(settings_);
    next.restore(port(1), system().memory(port(1)));
    next.update(links_, now);
    const auto sent = next.due(now);
    ASSERT_EQ(1U, sent.size());
    EXPECT_EQ(PortInfo{}.system, std::get<Lacpdu>(sent.front().frame).partner.system) << "it answers at once";
}

TEST_F(SystemTest, tries_a_failed_lacpdu_again) {
    links_.push_back({.port = port(1), .number = 1, .up = true, .speed = 1000, .duplex = Duplex::full});
    system().update(links_, now);
    for (const auto& frame : system().due(now))
        system().note_result(frame, false, now);
    ASSERT_TRUE(system().deadline(now));
    advance(*system().deadline(now) - now);
    EXPECT_EQ(1, sent_[1]);
}

TEST_F(SystemTest, moves_off_an_aggregator_whose_partner_lost_synchronization) {
    settings_.policy = AggSelectPolicy::lacp_prio_stable;
    plug(1);
    plug(2);
    hear(1);
    hear(2, {.system = 3});
    ASSERT_THAT(distributing_ports(), ElementsAre(port(1)));
    hear(1, {.bits = {activity, timeout, aggregation}});
    EXPECT_THAT(distributing_ports(), ElementsAre(port(2)));
}

TEST_F(SystemTest, prefers_an_aggregate_to_an_individual_link) {
    plug(1);
    hear(1, {.bits = {activity, timeout, synchronization, collecting, distributing}});
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
    plug(2);
    hear(2, {.system = 3});
    EXPECT_THAT(distributing_ports(), ElementsAre(port(2)));
}

TEST_F(SystemTest, falls_back_only_until_the_first_answer) {
    for (const auto fallback : {LacpFallback::one_port, LacpFallback::all_ports}) {
        settings_.fallback = fallback;
        System system(settings_);
        const std::vector<Link> links{{.port = port(1), .number = 1, .up = true, .priority = 200},
                                      {.port = port(2), .number = 2, .up = true, .priority = 100}};
        system.update(links, now);
        EXPECT_THAT(system.carrying().distributing, IsEmpty());
        system.step(now + 3s);
        if (fallback == LacpFallback::one_port)
            EXPECT_THAT(system.carrying().distributing, ElementsAre(port(2)));
        else
            EXPECT_THAT(system.carrying().distributing, ElementsAre(port(1), port(2)));
        EXPECT_TRUE(system.carrying().falls_back);
        const Lacpdu pdu{.actor = partner_info(), .partner = {}};
        system.receive(port(1), build_frame(pdu, {}), now + 4s);
        system.step(now + 4s);
        EXPECT_THAT(system.carrying().distributing, IsEmpty());
        system.step(now + 60s); // it was a partner: no fallback
        EXPECT_THAT(system.carrying().distributing, IsEmpty());
    }
}

/// A partner in synchronization with both, whose frames must be received until it has stopped.
TEST_F(SystemTest, tells_the_partner_to_stop_and_receives_until_it_has) {
    for (const auto control : {MuxControl::independent, MuxControl::coupled}) {
        reset(control);
        plug(1);
        plug(2);
        hear(1);
        hear(2);
        ASSERT_THAT(distributing_ports(), ElementsAre(port(1), port(2)));
        link(2).drain = DrainPhase::moving;
        update();
        EXPECT_THAT(distributing_ports(), ElementsAre(port(1), port(2)));
        advance(1s); // it sends no more than three frames in a second
        link(2).drain = DrainPhase::emptying;
        update();
        EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
        EXPECT_THAT(system().carrying().collecting, ElementsAre(port(1), port(2)));
        EXPECT_TRUE(last_[2].actor.is(collecting) && last_[2].actor.is(synchronization));
        EXPECT_EQ(control == MuxControl::coupled, last_[2].actor.is(distributing));
        advance(1s);
        link(2).drain = DrainPhase::telling;
        update();
        EXPECT_THAT(system().carrying().collecting, ElementsAre(port(1), port(2))) << "what it still sends";
        EXPECT_FALSE(last_[2].actor.is(collecting) || last_[2].actor.is(synchronization) ||
                     last_[2].actor.is(distributing));
        EXPECT_TRUE(system().partner_sends(port(2)));
        hear(2, {.bits = {activity, timeout, aggregation, synchronization}});
        EXPECT_FALSE(system().partner_sends(port(2)));
        EXPECT_EQ("it is drained", reason(2));
        EXPECT_FALSE(system().status(port(2), now).selected);
        link(2).drain = DrainPhase::none;
        update();
        hear(2);
        advance(2s);
        hear(1);
        hear(2);
        EXPECT_THAT(distributing_ports(), ElementsAre(port(1), port(2)));
    }
}

TEST_F(SystemTest, has_no_aggregator_of_drained_ports) {
    plug(1);
    plug(2);
    hear(1);
    hear(2);
    link(1).drain = link(2).drain = DrainPhase::telling;
    update();
    EXPECT_THAT(distributing_ports(), IsEmpty());
    EXPECT_FALSE(system().carrying().falls_back);
}

} // namespace
} // namespace teamo::lacp
