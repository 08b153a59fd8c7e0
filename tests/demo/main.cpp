// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The main job, shown on real traffic: four cables of 1 Gbit/s carried as one, with TSO kept, and a cable
// pulled. Exit status 0 only if all of it came true.
#include "demo/measure.h"
#include "demo/report.h"
#include "support/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace teamo::demo {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 3, pulls = 5;

std::string read_config(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) throw test::SetupError(path + " cannot be read");
    return text.str();
}

void need_tools(const test::NetNs& here) {
    for (const auto* tool : {"ip", "tc", "ethtool", "iperf3", "teamdctl"})
        if (test::sh(here, fmt::format("command -v {}", tool)).status != 0)
            throw test::SetupError(fmt::format("{} is missing; ./quickstart demo installs it", tool));
}

void show_state(const Report& report, const Stage& stage) {
    report.step("teamdctl team0 state, and which port each hash bucket leaves by:");
    report.quote(stage.team().teamdctl({"state"}).out);
    report.quote(stage.team().teamoctl({"balance"}).out);
}

/// Each cable alone, the other three pulled on both ends: what the aggregate is made of.
double single_ports(const Report& report, const Stage& stage) {
    double sum = 0;
    for (unsigned alone = 1; alone <= cables; ++alone) {
        for (unsigned other = 1; other <= cables; ++other)
            if (other != alone) stage.wires().pull(other);
        stage.await_carrying(1);
        const auto one = transfer(stage, 2s);
        report.step(fmt::format("{} alone carries {:.0f} Mbit/s", test::Cabling::port(alone), one.megabits));
        sum += one.megabits;
        for (unsigned other = 1; other <= cables; ++other)
            if (other != alone) stage.wires().plug(other);
        stage.await_carrying(cables);
    }
    return sum;
}

struct Compared {
    std::vector<double> megabits, bytes_per_skb, cpu_per_kb;
    void add(const Transfer& one) {
        megabits.push_back(one.megabits);
        bytes_per_skb.push_back(one.bytes_per_skb);
        cpu_per_kb.push_back(one.cpu_per_kb);
    }
};

void show_throughput(Report& report, const Stage& stage) {
    const auto single = single_ports(report, stage);
    Compared kept, taken;
    for (int round = 0; round < rounds; ++round)
        for (const bool tso : {true, false}) {
            stage.keep_tso(tso);
            const auto one = transfer(stage, 3s);
            (tso ? kept : taken).add(one);
            report.step(fmt::format(
                "team0 {}: {:.0f} Mbit/s to eight clients, {:.0f} bytes an skb, {:.2f} us of CPU a KB",
                tso ? "with TSO   " : "without TSO", one.megabits, one.bytes_per_skb, one.cpu_per_kb));
        }
    stage.keep_tso(true);
    const auto sum = median(kept.megabits);
    report.expect("four ports carried as one", fmt::format("{:.0f} Mbit/s", sum),
                  fmt::format(">= 95 % of {:.0f}, the single ports' sum", single), sum >= 0.95 * single);
    report.expect("bytes per transmitted skb, TSO kept", fmt::format("{:.0f}", median(kept.bytes_per_skb)),
                  ">= 20,000", median(kept.bytes_per_skb) >= 20'000);
    report.expect("bytes per transmitted skb, TSO taken away",
                  fmt::format("{:.0f}", median(taken.bytes_per_skb)), "a frame's, 1,514",
                  median(taken.bytes_per_skb) <= 1'514);
    report.expect("CPU per KB, TSO kept", fmt::format("{:.2f} us", median(kept.cpu_per_kb)),
                  fmt::format("< {:.2f} us, with TSO taken away", median(taken.cpu_per_kb)),
                  median(kept.cpu_per_kb) < median(taken.cpu_per_kb));
}

void show_failover(Report& report, const Stage& stage) {
    report.step(fmt::format("pulling cables under {} packets a second", pull_rate));
    std::vector<double> lost;
    const test::Stream stream(
        {.from = &stage.host(), .to = &stage.client(0), .address = Stage::address_of(0), .rate = pull_rate});
    for (int count = 0; count < pulls; ++count) {
        const auto pull = pull_cable(stage, stream);
        lost.push_back(static_cast<double>(pull.lost));
        report.step(fmt::format("{} pulled: {} packets lost, {:.1f} ms of silence",
                                test::Cabling::port(pull.port), pull.lost,
                                1000.0 * static_cast<double>(pull.lost) / pull_rate));
    }
    const auto in_ms = [](double packets) { return 1000.0 * packets / pull_rate; };
    const auto worst = std::ranges::max(lost);
    report.expect("a pulled cable loses, median",
                  fmt::format("{:.0f} packets, {:.1f} ms", median(lost), in_ms(median(lost))),
                  "<= 10 packets, 1 ms", median(lost) <= 10);
    report.expect("a pulled cable loses, worst",
                  fmt::format("{:.0f} packets, {:.1f} ms", worst, in_ms(worst)), "<= 100 packets, 10 ms",
                  worst <= 100);
}

int play() {
    Report report;
    report.step("making a host with four cables of 1 Gbit/s, eight clients behind them, and the team");
    need_tools(test::NetNs::current());
    Stage stage(read_config(TEAMO_DEMO_CONFIG));
    stage.await_carrying(cables);
    show_state(report, stage);
    show_throughput(report, stage);
    show_failover(report, stage);
    report.step("the state after all that:");
    report.quote(stage.team().teamoctl({"balance"}).out);
    return report.conclude() ? 0 : 1;
}

} // namespace
} // namespace teamo::demo

int main() {
    try {
        teamo::test::enter_private_world();
        teamo::test::furnish_world();
        return teamo::demo::play();
    } catch (const std::exception& error) {
        fmt::print(stderr, "teamo-demo: {}\n", error.what());
        return 1;
    }
}
