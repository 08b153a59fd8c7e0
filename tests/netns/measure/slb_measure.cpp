// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The runner slb over many moves and pulled cables, and beside others.
//
// lab: SlbBeside.* by bond on newest, 90 s, compare
#include "netns/balance/balance_state.h"
#include "netns/team_driver.h"
#include "netns/traffic/switched_guests.h"
#include "support/figure.h"
#include "support/net/world.h"

namespace teamo::test {
namespace {

class SlbPromise : public testing::TestWithParam<unsigned> {};

TEST_P(SlbPromise, holds_over_200_moves_and_20_cables) {
    if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    SwitchedGuests scene(GetParam());
    const TeamUnderTest team(
        team_config(R"({"name": "slb", "tx_balancer": {"name": "basic", "balancing_interval": 5}})",
                    ports_object(scene.ports())));
    scene.begin(team);
    scene.start_traffic(1'000);
    ASSERT_TRUE(eventually("", [&] { return balance_of(team).busiest.size() >= 40; }, 20s));
    std::mt19937 random{20261129};
    const auto before = scene.tally();
    for (int move = 0; move < 200; ++move) {
        const auto state = balance_of(team);
        const auto bucket = state.busiest.at(random() % state.busiest.size());
        const auto done =
            team.teamoctl({"balance", "move", std::to_string(bucket),
                           SwitchedGuests::port(static_cast<unsigned>(1 + random() % scene.ports()))});
        ASSERT_EQ(0, done.status) << done.err;
    }
    ASSERT_TRUE(eventually("", [&] { return balance_of(team).pending == 0; }, 30s));
    scene.stop_traffic();
    const auto moved = scene.tally(before.sent);
    fmt::print("moves: {}\n", text_of(moved));
    EXPECT_EQ(0U, moved.lost + moved.twice + moved.back);
    EXPECT_EQ(SwitchedGuests::guests, scene.reached(100, long_enough));

    const auto from = scene.sent();
    scene.start_traffic(1'000);
    for (int pull = 0; pull < 20; ++pull) {
        const auto number = static_cast<unsigned>(1 + random() % scene.ports());
        scene.pull(number);
        ASSERT_TRUE(team.await_link(SwitchedGuests::port(number), false));
        EXPECT_TRUE(eventually("", [&] { return scene.reached(1) == SwitchedGuests::guests; }));
        scene.plug(number);
        ASSERT_TRUE(team.await_link(SwitchedGuests::port(number)));
        EXPECT_TRUE(eventually("", [&] { return scene.reached(1) == SwitchedGuests::guests; }));
    }
    const auto pulled = scene.tally(from);
    fmt::print("cables: {}\n", text_of(pulled));
    EXPECT_EQ(0U, pulled.twice + pulled.back);
    EXPECT_TRUE(at_most("frames lost for each pulled cable", static_cast<double>(pulled.lost) / 20,
                        {.promised = 10, .defect = 100}));

    const auto spread = [&] {
        const PortBytes start(team, scene.ports());
        std::this_thread::sleep_for(2s);
        return PortBytes(team, scene.ports()).since(start);
    };
    Fullest fullest{};
    EXPECT_TRUE(
        eventually("", [&] { return (fullest = spread()).sent <= 1.1 && fullest.received <= 1.1; }, 30s));
    fmt::print("the fullest port: {:.3f} of the mean sent, {:.3f} received; {} moves in all\n", fullest.sent,
               fullest.received, team.item("balance.moved"));
    scene.stop_traffic();
    const auto all = scene.tally();
    fmt::print("all: {}\n", text_of(all));
    EXPECT_EQ(0U, all.twice + all.back);
    EXPECT_EQ(SwitchedGuests::guests, scene.reached(100, long_enough));
}

/// What the guests get for some seconds, and how even the ports send.
SwitchedGuests::Tally show(std::string_view what, SwitchedGuests& scene) {
    const auto bytes = [&] {
        std::vector<double> list;
        for (unsigned number = 1; number <= scene.ports(); ++number)
            list.push_back(
                static_cast<double>(counters(NetNs::current(), SwitchedGuests::port(number)).tx_bytes));
        return list;
    };
    const auto reached = scene.reached(5);
    const auto from = scene.sent();
    scene.start_traffic(SwitchedGuests::some());
    std::this_thread::sleep_for(5s); // what balances does so
    const auto before = bytes();
    std::this_thread::sleep_for(5s);
    const auto after = bytes();
    scene.stop_traffic();
    double sum = 0, most = 0;
    for (std::size_t port = 0; port < after.size(); ++port) {
        sum += after[port] - before[port];
        most = std::max(most, after[port] - before[port]);
    }
    const auto tally = scene.tally(from);
    fmt::print("{}: {} of 50 guests reached; {}; the fullest port sends {:.2f} of the mean\n", what, reached,
               text_of(tally), most * static_cast<double>(after.size()) / sum);
    return tally;
}

TEST(SlbBeside, activebackup_and_the_kernels_balance_alb) {
    if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    const auto by_team = [](std::string_view what, std::string_view runner) {
        SwitchedGuests scene(2);
        const TeamUnderTest team(team_config(runner, ports_object(scene.ports())));
        scene.begin(team);
        return show(what, scene);
    };
    const auto slb =
        by_team("slb", R"({"name": "slb", "tx_balancer": {"name": "basic", "balancing_interval": 5}})");
    EXPECT_EQ(0U, slb.lost + slb.twice + slb.back);
    furnish_world();
    by_team("activebackup", activebackup);
    if (!kernel_has_driver("bond")) GTEST_SKIP() << "this kernel has no bonding";
    furnish_world();
    SwitchedGuests scene(2);
    std::string lines = "link add bond0 type bond mode balance-alb miimon 100";
    for (unsigned number = 1; number <= scene.ports(); ++number)
        lines += fmt::format("\nlink set {} master bond0", SwitchedGuests::port(number));
    NetNs::current().ip(lines + "\nlink set bond0 up");
    scene.begin_on("bond0");
    show("balance-alb of the kernel", scene);
}

INSTANTIATE_TEST_SUITE_P(Switches, SlbPromise, testing::Values(1U, 2U));

} // namespace
} // namespace teamo::test
