// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packets lost when a cable is pulled at a high rate, for each runner, while the daemon runs, is frozen or is
// dead. The tests LostLink.* check the same with a lower rate and a wider bound.
#include "netns/configs.h"
#include "support/figure.h"
#include "support/traffic/traffic.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <csignal>
#include <thread>

namespace teamo::test {
namespace {

constexpr unsigned pulls_each = 20;

struct Runner {
    const char* name;
    std::string config;
};
const Runner runners[] = {{"hash", std::string(by_flow)},
                          {"cpu", R"({"name": "loadbalance", "tx_hash": ["cpu"]})"},
                          {"roundrobin", R"({"name": "roundrobin"})"},
                          {"random", R"({"name": "random"})"},
                          {"broadcast", R"({"name": "broadcast"})"},
                          {"activebackup", std::string(activebackup)}};
struct Daemon {
    const char* name;
    int signal;
};
constexpr Daemon daemons[] = {{"running", 0}, {"frozen", SIGSTOP}, {"killed", SIGKILL}};

class Pull : public testing::TestWithParam<std::tuple<Runner, Daemon>> {};

/// The port that sends most.
unsigned busiest(const Cabling& wires) {
    std::vector<std::uint64_t> before;
    for (unsigned port = 1; port <= wires.ports(); ++port)
        before.push_back(counters(wires.host(), Cabling::port(port)).tx_packets);
    std::this_thread::sleep_for(20ms);
    unsigned most = 1;
    std::uint64_t packets = 0;
    for (unsigned port = 1; port <= wires.ports(); ++port) {
        const auto sent = counters(wires.host(), Cabling::port(port)).tx_packets - before[port - 1];
        if (sent > packets) {
            packets = sent;
            most = port;
        }
    }
    return most;
}

struct Lost {
    std::vector<std::uint64_t> out, in; ///< by each of 20 pulls
};

/// Arrivals are counted with activebackup only: with a lag_switch they all use one port.
Lost lost_by_pulls(const Cabling& wires, unsigned rate, bool both_ways) {
    Stream stream({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate});
    std::optional<Stream> back;
    if (both_ways)
        back.emplace(
            Stream::Way{.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = rate});
    Lost lost;
    for (unsigned pull = 0; pull < pulls_each; ++pull) {
        EXPECT_TRUE(stream.flows(rate / 5));
        const auto port = busiest(wires);
        const auto first = stream.next(), first_back = back ? back->next() : 0;
        wires.pull(port);
        EXPECT_TRUE(stream.flows(rate / 10));
        lost.out.push_back(stream.tally(first, stream.next() - rate / 50).lost);
        if (back) {
            EXPECT_TRUE(back->flows(rate / 10));
            lost.in.push_back(back->tally(first_back, back->next() - rate / 50).lost);
        }
        wires.plug(port);
        EXPECT_TRUE(becomes("UP", [&] { return look(wires.host(), Cabling::port(port)).operstate; }));
    }
    return lost;
}

TEST_P(Pull, loses_few_packets) {
    if (!promises_enforced()) GTEST_SKIP() << "measured by ./quickstart measure";
    const auto& [runner, daemon] = GetParam();
    const bool backup = runner.config == activebackup;
    const Cabling wires(3, backup ? FarSide::learning_switch : FarSide::lag_switch);
    TeamUnderTest team(team_config(runner.config, ports_object(3)));
    if (team.item("datapath.sees_links") != "true") GTEST_SKIP() << team.item("datapath.sees_links_reason");
    bring_up(wires, team);
    if (daemon.signal == SIGKILL) team.kill();
    if (daemon.signal == SIGSTOP) team.signal(SIGSTOP);
    for (const unsigned rate : {10'000U, 50'000U}) {
        const auto [lost, lost_in] = lost_by_pulls(wires, rate, backup);
        const auto what = fmt::format("{}, daemon {}, {}/s", runner.name, daemon.name, rate);
        fmt::print("{}: lost in {} pulls: {}\n", what, pulls_each, fmt::join(lost, " "));
        if (backup) {
            fmt::print("{}: lost of those that arrive: {}\n", what, fmt::join(lost_in, " "));
            EXPECT_TRUE(
                at_most(what + ", arriving, median", median(lost_in), {.promised = 10, .defect = 500}));
        }
        // At 50,000/s a packet is on the wire at the moment of most pulls.
        EXPECT_TRUE(
            at_most(what + ", median", median(lost), {.promised = rate > 10'000 ? 1.0 : 0.0, .defect = 100}));
        EXPECT_TRUE(at_most(what + ", worst", static_cast<double>(std::ranges::max(lost)),
                            {.promised = 5, .defect = 1'000}));
    }
    if (daemon.signal == SIGSTOP) team.signal(SIGCONT);
}

INSTANTIATE_TEST_SUITE_P(Cable, Pull,
                         testing::Combine(testing::ValuesIn(runners), testing::ValuesIn(daemons)),
                         [](const auto& one) {
                             return fmt::format("{}_{}", std::get<0>(one.param).name,
                                                std::get<1>(one.param).name);
                         });

} // namespace
} // namespace teamo::test
