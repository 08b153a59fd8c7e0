// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each transition of the receive machine (IEEE 802.1AX-2020, figure 6-18), and what each state does.
#include "lacp/machines.h"
#include "variables.h"

namespace teamo::lacp {
namespace {

struct Receiver {
    PortVariables port = enabled_port();
    ReceiveMachine machine;

    ReceiveState step(Clock::time_point now = start, const Lacpdu* pdu = nullptr) {
        machine.step(port, pdu, now);
        return machine.state();
    }
    ReceiveState hear(Clock::time_point now = start, std::initializer_list<StateBit> more = {}) {
        const auto pdu = pdu_for(port, more);
        return step(now, &pdu);
    }
    bool is(StateBit bit) const { return port.actor.is(bit); }
};

TEST(Receive, begins_in_port_disabled_without_a_partner) {
    Receiver receive;
    receive.port.port_enabled = false;
    receive.port.partner = partner_info();
    receive.port.selected = Selected::selected;
    EXPECT_EQ(ReceiveState::port_disabled, receive.step());
    EXPECT_EQ(PortInfo{}, receive.port.partner);
    EXPECT_TRUE(receive.is(defaulted));
    EXPECT_EQ(Selected::unselected, receive.port.selected);
}

TEST(Receive, expires_first_when_the_port_is_enabled) {
    Receiver receive;
    EXPECT_EQ(ReceiveState::expired, receive.step());
    EXPECT_TRUE(receive.is(expired));
    EXPECT_TRUE(receive.port.partner.is(timeout)); // so that LACPDUs go out each second
    EXPECT_EQ(start + 3s, receive.machine.deadline());
}

TEST(Receive, takes_defaults_when_nobody_answers) {
    Receiver receive;
    receive.step();
    EXPECT_EQ(ReceiveState::expired, receive.step(start + 2999ms));
    EXPECT_EQ(ReceiveState::defaulted, receive.step(start + 3s));
    EXPECT_TRUE(receive.is(defaulted));
    EXPECT_FALSE(receive.is(expired));
    EXPECT_EQ(std::nullopt, receive.machine.deadline());
}

TEST(Receive, is_current_after_a_lacpdu) {
    for (const auto after : {0s, 4s}) { // from expired, and from defaulted
        Receiver receive;
        receive.step();
        receive.step(start + after);
        EXPECT_EQ(ReceiveState::current, receive.hear(start + after));
        EXPECT_EQ(partner_info().system, receive.port.partner.system);
        EXPECT_FALSE(receive.is(defaulted));
        EXPECT_FALSE(receive.is(expired));
        EXPECT_EQ(start + after + 3s, receive.machine.deadline());
    }
}

TEST(Receive, waits_90_seconds_with_the_long_timeout) {
    Receiver receive;
    receive.port.actor.set(timeout, false);
    receive.step();
    receive.hear();
    EXPECT_EQ(start + 90s, receive.machine.deadline());
    EXPECT_EQ(ReceiveState::current, receive.step(start + 89s));
    EXPECT_EQ(ReceiveState::expired, receive.step(start + 90s));
}

TEST(Receive, begins_its_timeout_again_with_each_lacpdu) {
    Receiver receive;
    receive.step();
    receive.hear();
    EXPECT_EQ(ReceiveState::current, receive.hear(start + 2s));
    EXPECT_EQ(start + 5s, receive.machine.deadline());
}

TEST(Receive, expires_then_takes_defaults_when_the_partner_falls_silent) {
    Receiver receive;
    receive.step();
    receive.hear(start, {synchronization});
    EXPECT_TRUE(receive.port.partner.is(synchronization));
    EXPECT_EQ(ReceiveState::expired, receive.step(start + 3s));
    EXPECT_FALSE(receive.port.partner.is(synchronization));
    EXPECT_EQ(partner_info().system, receive.port.partner.system); // it may come back
    receive.port.selected = Selected::selected;
    EXPECT_EQ(ReceiveState::defaulted, receive.step(start + 6s));
    EXPECT_EQ(PortInfo{}, receive.port.partner);
    EXPECT_EQ(Selected::unselected, receive.port.selected); // update_Default_Selected
}

TEST(Receive, is_disabled_with_the_port_from_every_state) {
    for (const int steps : {0, 1, 2}) {
        Receiver receive;
        receive.step();
        if (steps > 0) receive.hear(start, {synchronization});
        if (steps > 1) receive.step(start + 3s);
        receive.port.port_enabled = false;
        EXPECT_EQ(ReceiveState::port_disabled, receive.step(start + 4s));
        EXPECT_FALSE(receive.port.partner.is(synchronization));
        EXPECT_EQ(std::nullopt, receive.machine.deadline());
    }
}

TEST(Receive, ignores_a_lacpdu_while_disabled) {
    Receiver receive;
    receive.port.port_enabled = false;
    receive.step();
    EXPECT_EQ(ReceiveState::port_disabled, receive.hear());
    EXPECT_EQ(PortInfo{}, receive.port.partner);
}

TEST(Receive, begins_again_when_its_partner_moved_to_another_port) {
    Receiver receive;
    receive.step();
    receive.hear();
    receive.port.port_enabled = false;
    receive.step();
    receive.port.port_moved = true;
    EXPECT_EQ(ReceiveState::port_disabled, receive.step());
    EXPECT_EQ(PortInfo{}, receive.port.partner);
    EXPECT_FALSE(receive.port.port_moved);
}

TEST(Receive, has_a_state_without_lacp) {
    Receiver receive;
    receive.port.lacp_enabled = false;
    EXPECT_EQ(ReceiveState::lacp_disabled, receive.step());
    EXPECT_FALSE(receive.port.partner.is(aggregation));
    EXPECT_FALSE(receive.is(expired));
    receive.port.lacp_enabled = true;
    EXPECT_EQ(ReceiveState::expired, receive.step());
}

TEST(Receive, asks_for_a_new_selection_when_the_partner_changes) {
    const auto change = [](auto edit) {
        Receiver receive;
        receive.step();
        receive.hear();
        receive.port.selected = Selected::selected;
        auto pdu = pdu_for(receive.port);
        edit(pdu.actor);
        receive.step(start + 1s, &pdu);
        return receive.port.selected;
    };
    EXPECT_EQ(Selected::selected, change([](PortInfo&) {}));
    EXPECT_EQ(Selected::selected, change([](PortInfo& info) { info.set(synchronization, true); }));
    EXPECT_EQ(Selected::unselected, change([](PortInfo& info) { info.key = 8; }));
    EXPECT_EQ(Selected::unselected, change([](PortInfo& info) { info.port.number = 4; }));
    EXPECT_EQ(Selected::unselected, change([](PortInfo& info) { info.port.priority = 1; }));
    EXPECT_EQ(Selected::unselected, change([](PortInfo& info) { info.system.priority = 1; }));
    EXPECT_EQ(Selected::unselected, change([](PortInfo& info) { info.system.address.bytes[5] = 9; }));
    EXPECT_EQ(Selected::unselected, change([](PortInfo& info) { info.set(aggregation, false); }));
}

TEST(Receive, needs_to_transmit_when_the_partner_knows_something_else) {
    const auto change = [](auto edit) {
        Receiver receive;
        receive.step();
        auto pdu = pdu_for(receive.port);
        edit(pdu.partner);
        receive.step(start, &pdu);
        return receive.port.ntt;
    };
    EXPECT_FALSE(change([](PortInfo&) {}));
    EXPECT_FALSE(change([](PortInfo& info) { info.set(collecting, true); })); // not compared (6.4.9)
    EXPECT_TRUE(change([](PortInfo& info) { info.key = 8; }));
    EXPECT_TRUE(change([](PortInfo& info) { info.port.number = 9; }));
    EXPECT_TRUE(change([](PortInfo& info) { info.system.address = {}; }));
    for (const auto bit : {activity, timeout, aggregation})
        EXPECT_TRUE(change([bit](PortInfo& info) { info.set(bit, false); }));
    EXPECT_TRUE(change([](PortInfo& info) { info.set(synchronization, true); }));
}

TEST(Receive, believes_synchronization_only_for_this_link) {
    const auto synchronized = [](auto edit, bool active = true) {
        Receiver receive;
        receive.port.actor.set(activity, active);
        receive.step();
        auto pdu = pdu_for(receive.port, {synchronization});
        edit(pdu);
        receive.step(start, &pdu);
        return receive.port.partner.is(synchronization);
    };
    EXPECT_TRUE(synchronized([](Lacpdu&) {}));
    EXPECT_FALSE(synchronized([](Lacpdu& pdu) { pdu.actor.set(synchronization, false); }));
    EXPECT_FALSE(synchronized([](Lacpdu& pdu) { pdu.partner.port.number = 9; }));
    EXPECT_FALSE(synchronized([](Lacpdu& pdu) { pdu.partner.key = 9; }));
    // An individual link needs no view of ours.
    EXPECT_TRUE(synchronized([](Lacpdu& pdu) {
        pdu.partner = {};
        pdu.actor.set(aggregation, false);
    }));
    // Nobody keeps the link alive.
    EXPECT_FALSE(synchronized([](Lacpdu& pdu) { pdu.actor.set(activity, false); }, /*active=*/false));
    // The partner is passive, and knows that we are active.
    EXPECT_TRUE(synchronized([](Lacpdu& pdu) { pdu.actor.set(activity, false); }));
}

TEST(Receive, continues_where_another_daemon_was) {
    Receiver receive;
    receive.port.partner = with(partner_info(), {synchronization});
    receive.machine.restore(ReceiveState::current, start, receive.port);
    EXPECT_EQ(ReceiveState::current, receive.step());
    EXPECT_EQ(start + 3s, receive.machine.deadline());
    EXPECT_TRUE(receive.port.partner.is(synchronization));
}

} // namespace
} // namespace teamo::lacp
