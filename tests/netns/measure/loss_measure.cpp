// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Promises of the link watch loss: how soon a bad port is named and taken out, what the team carries without
// it, and that nothing is found in good traffic (LOSS_MINUTES of each kind, 1 if it is not set).
#include "netns/configs.h"
#include "netns/loss/dropper.h"
#include "support/figure.h"
#include "support/traffic/flows.h"
#include "support/traffic/traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

namespace teamo::test {
namespace {

constexpr std::string_view forever = R"("link_watch": {"name": "loss", "retry": 3600000}, )";

std::vector<double> slow_flows() { return std::vector<double>(16, 100e6 / 8 / 16); } // 100 Mbit/s together

class LossPromise : public testing::Test {
protected:
    void SetUp() override {
        if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    }
    BulkFlows flows(const std::vector<double>& rates) const {
        return BulkFlows(
            {.from = &wires_.host(), .to = &wires_.client(), .address = client_v4, .rates = rates});
    }
    const Cabling wires_{4, FarSide::lag_switch};
};

TEST_F(LossPromise, names_a_port_within_3_s_and_takes_it_out_within_5_s) {
    std::vector<double> named, out;
    TeamUnderTest team(team_config(by_flow, ports_object(4), forever));
    bring_up(wires_, team);
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    for (int round = 0; round < 10; ++round) {
        const auto traffic = flows(slow_flows());
        std::this_thread::sleep_for(milliseconds(2000 + 77 * round));
        const auto logged = team.log().size();
        const auto number = busiest_port(wires_);
        const auto port = Cabling::port(number);
        auto dropper = std::make_unique<Dropper>(wires_.peer(), Cabling::far_end(number), 0.02);
        const auto start = SteadyClock::now();
        ASSERT_TRUE(eventually("named", [&] {
            return team.log().find("port " + port + ": loses packets", logged) != std::string::npos;
        }));
        named.push_back(static_cast<double>(since(start).count()));
        ASSERT_TRUE(team.await_item("ports." + port + ".datapath.transmits", "false"));
        out.push_back(static_cast<double>(since(start).count()));
        dropper.reset();
        ASSERT_EQ(0, team.teamdctl({"port", "remove", port}).status); // which forgets it
        ASSERT_EQ(0, team.teamdctl({"port", "add", port}).status);
        ASSERT_TRUE(team.await_item("ports." + port + ".datapath.transmits", "true"));
    }
    std::ranges::sort(named);
    std::ranges::sort(out);
    fmt::print(
        "2 % lost at one of four ports, 100 Mbit/s of TCP: named after {} ms (worst {}), not used after {} "
        "ms (worst {})\n",
        named[5], named.back(), out[5], out.back());
    EXPECT_LE(named.back(), 3000);
    EXPECT_LE(out.back(), 5000);
}

TEST_F(LossPromise, leaves_the_throughput_of_the_good_ports) {
    TeamUnderTest team(team_config(by_flow, ports_object(4), forever));
    bring_up(wires_, team);
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    // Each port 200 Mbit/s, so that a port more or less can be seen.
    for (unsigned port = 1; port <= 4; ++port)
        wires_.host().ip(fmt::format("link set {} txqueuelen 1000", Cabling::port(port)));
    const auto shape = [&](const std::string& port) {
        must(wires_.host(),
             fmt::format("tc qdisc replace dev {} root tbf rate 200mbit burst 64k latency 20ms", port));
    };
    for (unsigned port = 1; port <= 4; ++port)
        shape(Cabling::port(port));
    const auto mbits = [&] {
        const auto traffic = flows(std::vector<double>(32, 0));
        std::this_thread::sleep_for(1s);
        const auto before = traffic.received();
        std::this_thread::sleep_for(3s);
        return static_cast<double>(traffic.received() - before) * 8 / 3e6;
    };
    std::vector<double> ratios;
    for (int round = 0; round < 5; ++round) {
        std::optional<Dropper> dropper;
        std::string port;
        {
            const auto traffic = flows(slow_flows());
            const auto number = busiest_port(wires_);
            port = Cabling::port(number);
            dropper.emplace(wires_.peer(), Cabling::far_end(number), 0.02);
            ASSERT_TRUE(team.await_item("ports." + port + ".loss.taken_out", "true"));
        }
        const auto with = mbits();
        ASSERT_EQ(0, team.teamdctl({"port", "remove", port}).status);
        const auto three = mbits();
        ASSERT_EQ(0, team.teamdctl({"port", "add", port}).status);
        ASSERT_TRUE(team.await_item("ports." + port + ".datapath.transmits", "true"));
        shape(port);
        fmt::print("round {}: a bad port taken out {:.0f} Mbit/s, three ports {:.0f} Mbit/s\n", round, with,
                   three);
        ratios.push_back(with / three);
    }
    std::ranges::sort(ratios);
    EXPECT_TRUE(at_least("throughput with a bad port, as a part of that of three ports", ratios[2],
                         {.promised = 0.95, .defect = 0.8}));
}

class LossFindsNothing : public LossPromise, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(In, LossFindsNothing, testing::Values("clean", "congested", "shaped"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(LossFindsNothing, traffic) {
    const std::string kind = GetParam();
    const auto* minutes = std::getenv("LOSS_MINUTES");
    TeamUnderTest team(team_config(by_flow, ports_object(4), forever));
    bring_up(wires_, team);
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    constexpr auto tbf = "tc qdisc replace dev {} root tbf rate {}mbit burst 64k latency 5ms";
    // Congested: behind the switch, for all. Shaped: at each of our ports, with different rates.
    if (kind == "congested") must(wires_.peer(), fmt::format(tbf, "toclient", 300));
    if (kind == "shaped")
        for (unsigned port = 1; port <= 4; ++port)
            must(wires_.host(), fmt::format(tbf, Cabling::port(port), 50 * port));
    auto rates = slow_flows();
    rates.insert(rates.end(), 16, kind == "clean" ? 2e6 : 0); // as fast as they can
    const auto traffic = flows(rates);
    const auto until = SteadyClock::now() + std::chrono::minutes(minutes == nullptr ? 1 : std::atoi(minutes));
    int most = 0;
    while (SteadyClock::now() < until) {
        std::this_thread::sleep_for(1s);
        for (unsigned port = 1; port <= 4; ++port)
            most =
                std::max(most, std::stoi(team.item(fmt::format("ports.eth{}.loss.retransmitted_ppm", port))));
        ASSERT_EQ(team.log().find("loses packets"), std::string::npos) << team.log();
    }
    fmt::print("{}: nothing found; at most {:.1f} % of the segments of a port were sent again\n", kind,
               most / 1e4);
}

} // namespace
} // namespace teamo::test
