// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each transition of the mux machine, with coupled and with independent control (IEEE 802.1AX-2020, figures
// 6-21 and 6-22).
#include "lacp/machines.h"
#include "variables.h"

namespace teamo::lacp {
namespace {

struct Muxed {
    explicit Muxed(MuxControl control) : machine(control) {}
    PortVariables port = enabled_port();
    MuxMachine machine;

    MuxState step(Clock::time_point now = start) {
        port.ntt = false;
        machine.step(port, now);
        return machine.state();
    }
    MuxState attach(bool partner_in_sync) {
        port.selected = Selected::selected;
        port.ready = true;
        port.partner.set(synchronization, partner_in_sync);
        return step();
    }
    bool is(StateBit bit) const { return port.actor.is(bit); }
};

class Mux : public testing::TestWithParam<MuxControl> {};
INSTANTIATE_TEST_SUITE_P(Control, Mux, testing::Values(MuxControl::coupled, MuxControl::independent),
                         [](const auto& control) {
                             return control.param == MuxControl::coupled ? "coupled" : "independent";
                         });

TEST_P(Mux, stays_detached_while_unselected) {
    Muxed mux(GetParam());
    EXPECT_EQ(MuxState::detached, mux.step());
    EXPECT_FALSE(mux.port.ntt);
}

TEST_P(Mux, waits_when_selected) {
    Muxed mux(GetParam());
    mux.port.selected = Selected::selected;
    EXPECT_EQ(MuxState::waiting, mux.step());
    EXPECT_EQ(start + 2s, mux.machine.deadline());
    EXPECT_FALSE(mux.machine.has_waited(start + 1999ms));
    EXPECT_TRUE(mux.machine.has_waited(start + 2s));
    EXPECT_EQ(MuxState::waiting, mux.step(start + 3s)); // not ready
    EXPECT_FALSE(mux.is(synchronization));
}

TEST_P(Mux, waits_in_standby) {
    Muxed mux(GetParam());
    mux.port.selected = Selected::standby;
    mux.port.ready = true;
    EXPECT_EQ(MuxState::waiting, mux.step());
}

TEST_P(Mux, leaves_waiting_when_unselected) {
    Muxed mux(GetParam());
    mux.port.selected = Selected::selected;
    mux.step();
    mux.port.selected = Selected::unselected;
    EXPECT_EQ(MuxState::detached, mux.step());
}

TEST_P(Mux, attaches_when_ready) {
    Muxed mux(GetParam());
    EXPECT_EQ(MuxState::attached, mux.attach(false));
    EXPECT_TRUE(mux.is(synchronization));
    EXPECT_FALSE(mux.is(collecting));
    EXPECT_FALSE(mux.is(distributing));
    EXPECT_TRUE(mux.port.ntt);
    EXPECT_EQ(std::nullopt, mux.machine.deadline());
}

TEST_P(Mux, detaches_when_unselected_or_in_standby) {
    for (const auto selected : {Selected::unselected, Selected::standby}) {
        Muxed mux(GetParam());
        mux.attach(false);
        mux.port.selected = selected;
        mux.port.ready = false;
        mux.step();
        EXPECT_FALSE(mux.is(synchronization));
        EXPECT_TRUE(mux.port.ntt);
    }
}

TEST_P(Mux, returns_to_attached_when_the_partner_is_going) {
    Muxed mux(GetParam());
    mux.attach(true);
    mux.port.partner.set(collecting, true);
    EXPECT_EQ(MuxState::distributing, mux.step());
    mux.port.partner.set(synchronization, false);
    EXPECT_EQ(MuxState::attached, mux.step());
    EXPECT_TRUE(mux.is(synchronization));
    EXPECT_FALSE(mux.is(collecting));
    EXPECT_FALSE(mux.is(distributing));
    EXPECT_TRUE(mux.port.ntt);
}

TEST_P(Mux, detaches_in_one_step_from_distributing) {
    Muxed mux(GetParam());
    mux.attach(true);
    mux.port.partner.set(collecting, true);
    mux.step();
    mux.port.selected = Selected::unselected;
    EXPECT_EQ(MuxState::detached, mux.step());
    EXPECT_FALSE(mux.is(synchronization));
    EXPECT_FALSE(mux.is(distributing));
}

TEST(CoupledMux, collects_and_distributes_together) {
    Muxed mux(MuxControl::coupled);
    EXPECT_EQ(MuxState::distributing, mux.attach(true));
    EXPECT_TRUE(mux.is(collecting));
    EXPECT_TRUE(mux.is(distributing));
}

TEST(IndependentMux, collects_before_the_partner_does) {
    Muxed mux(MuxControl::independent);
    EXPECT_EQ(MuxState::collecting, mux.attach(true));
    EXPECT_TRUE(mux.is(collecting));
    EXPECT_FALSE(mux.is(distributing));
    EXPECT_TRUE(mux.port.ntt);
}

TEST(IndependentMux, distributes_while_the_partner_collects) {
    Muxed mux(MuxControl::independent);
    mux.attach(true);
    mux.port.partner.set(collecting, true);
    EXPECT_EQ(MuxState::distributing, mux.step());
    EXPECT_TRUE(mux.is(distributing));
    mux.port.partner.set(collecting, false);
    EXPECT_EQ(MuxState::collecting, mux.step());
    EXPECT_TRUE(mux.is(collecting));
    EXPECT_FALSE(mux.is(distributing));
}

TEST(MuxRestore, continues_where_another_daemon_was) {
    const auto state = [](MuxControl control, std::initializer_list<StateBit> bits) {
        Muxed mux(control);
        mux.port.actor = with(mux.port.actor, bits);
        mux.machine.restore(mux.port);
        return mux.machine.state();
    };
    using enum MuxControl;
    EXPECT_EQ(MuxState::detached, state(coupled, {}));
    EXPECT_EQ(MuxState::attached, state(coupled, {synchronization}));
    EXPECT_EQ(MuxState::collecting, state(independent, {synchronization, collecting}));
    EXPECT_EQ(MuxState::distributing, state(independent, {synchronization, collecting, distributing}));
    EXPECT_EQ(MuxState::distributing, state(coupled, {synchronization, collecting, distributing}));
}

} // namespace
} // namespace teamo::lacp
