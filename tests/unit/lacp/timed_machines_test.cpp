// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The machines for periodic transmission (IEEE 802.1AX-2020, figure 6-19), churn detection (6-23, 6-24) and
// transmission (6.4.15).
#include "lacp/machines.h"
#include "variables.h"

namespace teamo::lacp {
namespace {

struct Periodic : testing::Test {
    PortVariables port = enabled_port();
    PeriodicMachine machine;

    /// Whether a LACPDU is due.
    bool step(Clock::time_point now) {
        port.ntt = false;
        machine.step(port, now);
        return port.ntt;
    }
};

TEST_F(Periodic, is_fast_if_the_partner_wants_it) {
    port.partner.set(timeout, true);
    EXPECT_FALSE(step(start));
    EXPECT_EQ(PeriodicState::fast_periodic, machine.state());
    EXPECT_FALSE(step(start + 999ms));
    EXPECT_TRUE(step(start + 1s));
    EXPECT_EQ(start + 2s, machine.deadline());
}

TEST_F(Periodic, is_slow_otherwise) {
    EXPECT_FALSE(step(start));
    EXPECT_EQ(PeriodicState::slow_periodic, machine.state());
    EXPECT_FALSE(step(start + 29s));
    EXPECT_TRUE(step(start + 30s));
}

TEST_F(Periodic, sends_at_once_when_it_becomes_fast) {
    step(start);
    port.partner.set(timeout, true);
    EXPECT_TRUE(step(start + 5s));
    EXPECT_EQ(start + 6s, machine.deadline());
}

TEST_F(Periodic, becomes_slow_when_the_partner_wants_it) {
    port.partner.set(timeout, true);
    step(start);
    port.partner.set(timeout, false);
    EXPECT_FALSE(step(start + 500ms));
    EXPECT_EQ(PeriodicState::slow_periodic, machine.state());
}

TEST_F(Periodic, pauses_while_the_port_is_disabled_or_both_are_passive) {
    const auto expect_paused = [this] {
        EXPECT_FALSE(step(start + 40s));
        EXPECT_EQ(PeriodicState::no_periodic, machine.state());
        EXPECT_EQ(std::nullopt, machine.deadline());
    };
    step(start);
    port.port_enabled = false;
    expect_paused();
    port.port_enabled = true;
    step(start);
    port.lacp_enabled = false;
    expect_paused();
    port.lacp_enabled = true;
    step(start);
    port.actor.set(activity, false);
    expect_paused();
    port.partner.set(activity, true); // the partner asks
    step(start);
    EXPECT_EQ(PeriodicState::slow_periodic, machine.state());
}

TEST(Churn, is_detected_after_60_seconds_without_synchronization) {
    ChurnMachine churn;
    churn.step(true, false, start);
    EXPECT_EQ(ChurnState::monitor, churn.state());
    churn.step(true, false, start + 59s);
    EXPECT_EQ(ChurnState::monitor, churn.state());
    churn.step(true, false, start + 60s);
    EXPECT_EQ(ChurnState::churn, churn.state());
    EXPECT_EQ(std::nullopt, churn.deadline());
    churn.step(true, true, start + 61s);
    EXPECT_EQ(ChurnState::no_churn, churn.state());
}

TEST(Churn, is_not_monitored_in_synchronization_or_without_a_port) {
    ChurnMachine churn;
    churn.step(true, true, start);
    EXPECT_EQ(ChurnState::no_churn, churn.state());
    churn.step(true, false, start);
    churn.step(false, false, start + 1s);
    EXPECT_EQ(ChurnState::no_churn, churn.state());
    churn.step(true, false, start + 2s);
    EXPECT_EQ(start + 62s, churn.deadline());
    churn.step(true, true, start + 3s);
    EXPECT_EQ(ChurnState::no_churn, churn.state());
}

struct Transmit : testing::Test {
    Transmit() { port.ntt = true; }
    PortVariables port = enabled_port();
    TransmitMachine machine;

    bool send(Clock::time_point now) {
        port.ntt = true;
        ++port.actor.key; // something new
        if (!machine.may_send(port, now)) return false;
        machine.note_sent(port, now);
        EXPECT_FALSE(port.ntt);
        return true;
    }
};

TEST_F(Transmit, sends_only_what_is_needed) {
    EXPECT_TRUE(machine.may_send(port, start));
    port.ntt = false;
    EXPECT_FALSE(machine.may_send(port, start));
}

TEST_F(Transmit, needs_an_enabled_port_and_somebody_active) {
    port.port_enabled = false;
    EXPECT_FALSE(machine.may_send(port, start));
    port.port_enabled = true;
    port.lacp_enabled = false;
    EXPECT_FALSE(machine.may_send(port, start));
    port.lacp_enabled = true;
    port.actor.set(activity, false);
    EXPECT_FALSE(machine.may_send(port, start));
    port.partner.set(activity, true);
    EXPECT_TRUE(machine.may_send(port, start));
}

TEST_F(Transmit, sends_at_most_three_in_a_second) {
    for (const auto now : {0ms, 10ms, 20ms})
        EXPECT_TRUE(send(start + now));
    EXPECT_FALSE(send(start + 30ms));
    EXPECT_EQ(start + 1s, machine.deadline(port));
    EXPECT_FALSE(send(start + 999ms));
    EXPECT_TRUE(send(start + 1s));
    EXPECT_FALSE(send(start + 1005ms));
    EXPECT_TRUE(send(start + 1010ms));
}

TEST_F(Transmit, repeats_the_same_only_after_a_while) {
    EXPECT_TRUE(send(start));
    port.ntt = true;
    EXPECT_FALSE(machine.may_send(port, start + 99ms));
    EXPECT_EQ(start + 100ms, machine.deadline(port));
    EXPECT_TRUE(machine.may_send(port, start + 100ms));
    port.partner.key = 9;
    EXPECT_TRUE(machine.may_send(port, start + 1ms));
}

TEST_F(Transmit, tries_again_after_a_failure) {
    machine.note_failed(start);
    EXPECT_TRUE(port.ntt);
    EXPECT_FALSE(machine.may_send(port, start));
    ASSERT_TRUE(machine.deadline(port));
    EXPECT_TRUE(machine.may_send(port, *machine.deadline(port)));
    EXPECT_TRUE(send(start + 1s));
    EXPECT_TRUE(send(start + 1s));
}

} // namespace
} // namespace teamo::lacp
