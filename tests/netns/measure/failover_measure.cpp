// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The cost of a port change, in lost packets at a known rate. Time would not do: a busy machine pauses for
// some milliseconds without any change.
#include "netns/configs.h"
#include "support/daemon/nobody.h"
#include "support/figure.h"
#include "support/net/network_lock.h"
#include "support/traffic/traffic.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace teamo::test {
namespace {

constexpr unsigned rate = 10'000;

double worst(const std::vector<std::uint64_t>& values) {
    return static_cast<double>(std::ranges::max(values));
}

void report(std::string_view what, const std::vector<std::uint64_t>& lost) {
    fmt::print("{}: {} packets lost at {}/s, median {}, worst {}\n", what, fmt::join(lost, " "), rate,
               median(lost), worst(lost));
    testing::Test::RecordProperty("median", static_cast<int>(median(lost)));
    testing::Test::RecordProperty("worst", static_cast<int>(worst(lost)));
}

/// Ten packets per millisecond.
constexpr Bounds few{.promised = 10, .defect = 30};

/// The most that the best quarter of the pulls loses. A daemon that polls every 10 ms loses 0 to 100 packets,
/// so 25 in that quarter; one that gets events loses none unless the machine is busy.
double lower_quartile(std::vector<std::uint64_t> lost) {
    std::ranges::sort(lost);
    return static_cast<double>(lost.at(lost.size() / 4));
}

void expect_few(const std::vector<std::uint64_t>& lost) {
    EXPECT_TRUE(at_most("lower quartile", lower_quartile(lost), {.promised = 10, .defect = 12}));
    EXPECT_TRUE(at_most("median", median(lost), {.promised = 10, .defect = 300}));
    // A program that removes namespaces holds the kernel's network lock, and an event may wait for it for
    // more than a second. Lost events are the subject of LinkWatch (carrier_test.cpp).
    EXPECT_TRUE(at_most("worst", worst(lost), {.promised = 100, .defect = 30'000}));
}

constexpr Rounds pulls{.shown = 9, .measured = 15};

/// The port that sends most packets now.
unsigned carrying_port(const Cabling& wires, const Stream& stream) {
    std::vector<std::uint64_t> before, sent;
    for (unsigned number = 1; number <= wires.ports(); ++number)
        before.push_back(counters(wires.host(), Cabling::port(number)).tx_packets);
    if (!stream.flows(100)) throw SetupError("nothing flows");
    for (unsigned number = 1; number <= wires.ports(); ++number)
        sent.push_back(counters(wires.host(), Cabling::port(number)).tx_packets - before[number - 1]);
    return static_cast<unsigned>(std::ranges::max_element(sent) - sent.begin()) + 1;
}

/// Packets lost by each pull.
struct Losses {
    std::vector<std::uint64_t> pulled, put_back;
};

/// Pulls the cable that carries the stream and plugs it in again, this many times.
Losses pull_cables(const Cabling& wires, const TeamUnderTest& team, Stream& stream, int times) {
    if (!await_free_network_lock(30s, 100))
        throw SetupError("the kernel's network lock is taken all the time");
    Losses lost;
    std::uint64_t settled = 0;
    for (int count = 0; count < times; ++count) {
        const auto port = carrying_port(wires, stream);
        const auto first = stream.next();
        wires.pull(port);
        EXPECT_TRUE(stream.flows(1'000)) << "after " << Cabling::port(port) << " was pulled";
        const auto end = stream.next() - 500;
        if (count > 0) lost.put_back.push_back(stream.tally(settled, first).lost);
        lost.pulled.push_back(stream.tally(first, end).lost);
        settled = end;
        wires.plug(port);
        EXPECT_TRUE(team.await_link(Cabling::port(port)));
    }
    return lost;
}

TEST(Failover, loadbalance_loses_few_packets) {
    const Cabling wires(4, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    Stream stream({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    const auto lost = pull_cables(wires, team, stream, rounds(pulls));
    stream.stop();
    report("pulls", lost.pulled);
    expect_few(lost.pulled);
    report("plugged in", lost.put_back);
    EXPECT_TRUE(at_most("median", median(lost.put_back), {.promised = 1, .defect = 4}));
    const auto all = stream.tally();
    const auto by_pulls = std::accumulate(lost.pulled.begin(), lost.pulled.end(), std::uint64_t{0});
    EXPECT_TRUE(at_most("lost by plugging cables in", static_cast<double>(all.lost - by_pulls),
                        {.promised = 12, .defect = 30'000}))
        << text_of(all);
    EXPECT_EQ(0U, all.duplicated);
}

TEST(Failover, activebackup_loses_few_packets_each_way) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(team_config(activebackup, ports_object(2)));
    bring_up(wires, team);
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = rate});
    std::vector<std::uint64_t> lost_out, lost_in;
    for (int count = 0; count < rounds(pulls); ++count) {
        const unsigned port = team.item("runner.active_port") == "eth1" ? 1 : 2;
        const auto first_out = out.next(), first_in = in.next();
        wires.pull(port);
        EXPECT_TRUE(out.flows(1'000) && in.flows(1'000));
        lost_out.push_back(out.tally(first_out, out.next() - 500).lost);
        lost_in.push_back(in.tally(first_in, in.next() - 500).lost);
        wires.plug(port);
        EXPECT_TRUE(team.await_link(Cabling::port(port)));
    }
    report("out", lost_out);
    report("in", lost_in);
    expect_few(lost_out);
    expect_few(lost_in);
}

/// What an unprivileged user can do to a daemon: lock, watch and read files, signal, connect, and use up the
/// user's limits of watches and processes.
Process make_trouble(const TeamUnderTest& team) {
    return as_unprivileged_user(fmt::format(
        "for i in $(seq 150); do tail -f /run/teamd/team0.pid & done >/dev/null 2>&1;"
        "while :; do kill -9 {0}; kill -STOP {0}; cat /proc/{0}/* /run/teamd/* /run/teamd-offload/*;"
        "teamdctl team0 state; echo x >/run/teamd/team0.sock; sleep 0.05; done >/dev/null 2>&1",
        team.pid()));
}

TEST(Failover, not_slowed_by_an_unprivileged_user) {
    const Cabling wires(4, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    const auto holders = lock_as_unprivileged_user();
    Stream stream({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    std::vector<std::uint64_t> without, with;
    for (int round = 0; round < 4; ++round) {
        std::optional<Process> trouble;
        if (round % 2 == 1) trouble.emplace(make_trouble(team));
        const auto lost = pull_cables(wires, team, stream, rounds({.shown = 5, .measured = 10})).pulled;
        (trouble ? with : without).insert((trouble ? with : without).end(), lost.begin(), lost.end());
    }
    report("pulls", without);
    report("pulls with an unprivileged user", with);
    EXPECT_TRUE(at_most("median", median(with), {.promised = 10, .defect = 300}));
    const auto trouble = make_trouble(team);
    team.kill();
    team.start();
    EXPECT_TRUE(team.await_link("eth4"));
    EXPECT_TRUE(stream.flows(100));
}

/// Packets lost in each direction by one change of the active port, without a pulled cable.
template <class Change>
void expect_followed(const char* what, Change change) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(team_config(activebackup, R"({"eth1": {"prio": 10}, "eth2": {"prio": 5}})"));
    bring_up(wires, team);
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = rate});
    std::vector<std::uint64_t> lost_out, lost_in;
    for (int round = 0; round < 6; ++round) {
        const std::string next = team.item("runner.active_port") == "eth1" ? "eth2" : "eth1";
        const auto first_out = out.next(), first_in = in.next();
        change(team, next);
        EXPECT_TRUE(team.await_item("runner.active_port", next));
        EXPECT_TRUE(out.flows(1'000) && in.flows(1'000));
        lost_out.push_back(out.tally(first_out, out.next() - 500).lost);
        lost_in.push_back(in.tally(first_in, in.next() - 500).lost);
    }
    out.stop();
    in.stop();
    report(fmt::format("{}, out", what), lost_out);
    report(fmt::format("{}, in", what), lost_in);
    // A slow change shows in the median; a single one may be slow on a busy machine.
    for (const auto& lost : {lost_out, lost_in}) {
        EXPECT_TRUE(at_most("median", median(lost), few));
        EXPECT_TRUE(at_most("worst", worst(lost), {.promised = 10, .defect = 30'000}));
    }
    EXPECT_EQ(0U, in.tally().duplicated + out.tally().duplicated);
}

TEST(ActivePort, change_by_hand_redirects_inbound_traffic) {
    expect_followed("by hand", [](const TeamUnderTest& team, const std::string& next) {
        team.set_item("runner.active_port", next);
    });
}

TEST(ActivePort, change_by_prio_redirects_inbound_traffic) {
    int prio = 100;
    expect_followed("by prio", [&](const TeamUnderTest& team, const std::string& next) {
        const auto done =
            team.teamdctl({"port", "config", "update", next, fmt::format(R"({{"prio": {}}})", ++prio)});
        EXPECT_EQ(0, done.status) << done.err;
    });
}

TEST(ActivePort, return_redirects_inbound_traffic) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = rate});
    std::vector<std::uint64_t> lost;
    for (int round = 0; round < 6; ++round) {
        wires.pull(1);
        ASSERT_TRUE(team.await_item("runner.active_port", "eth2"));
        ASSERT_TRUE(in.flows(200));
        const auto first = in.next();
        wires.plug(1);
        ASSERT_TRUE(team.await_item("runner.active_port", "eth1"));
        ASSERT_TRUE(in.flows(1'000));
        lost.push_back(in.tally(first, in.next() - 500).lost);
    }
    report("a better port comes back, in", lost);
    EXPECT_TRUE(at_most("median", median(lost), few));
}

/// Here the kernel delays link events for up to a second, as it does for a card. If the daemon has to poll,
/// that costs at most 10 ms, which is a hundred packets.
TEST(Failover, bounded_with_delayed_link_events) {
    const Cabling wires(4, FarSide::lag_switch, LinkEvents::delayed);
    const TeamUnderTest team(loadbalance(4));
    bring_up(wires, team);
    Stream stream({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    const auto lost = pull_cables(wires, team, stream, rounds({.shown = 8, .measured = 15}));
    stream.stop();
    report("pulls with delayed events", lost.pulled);
    EXPECT_TRUE(at_most("median", median(lost.pulled), {.promised = 110, .defect = 250}));
    EXPECT_TRUE(at_most("worst", worst(lost.pulled), {.promised = 300, .defect = 30'000}));
}

} // namespace
} // namespace teamo::test
