// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The benefit of binding workers on this machine: CPU time per KiB and throughput, with and without binding
// in turn.
#include "netns/configs.h"
#include "support/figure.h"
#include "support/traffic/on_cpu.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

// The gain depends on the machine, so only a loss is an error.
TEST(Workers, benchmark_finds_no_harm) {
    if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    if (usable_cpus().size() < 2) GTEST_SKIP() << "one CPU";
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(
        team_config(by_flow, ports_object(2), R"("workers": [{"command": "iperf3"}], )"));
    bring_up(wires, team);
    const auto server = Process::start({.argv = {"iperf3", "-s"}, .in = &wires.host()});
    ASSERT_TRUE(eventually("the server listens", [&] {
        return !run({.argv = {"ss", "-Hltn", "sport = 5201"}, .in = &wires.host()}).out.empty();
    }));
    // A load that the machine can carry, or the result would depend on the scheduler.
    const auto client =
        Process::start({.argv = {"taskset", "-c", std::to_string(usable_cpus().back()), "iperf3", "-c",
                                 std::string(team_v4), "-t", "600", "-b", "400M"},
                        .in = &wires.client()});
    ASSERT_TRUE(eventually(
        "a worker is seen",
        [&] {
            return team.teamoctl({"workers"}).out.find("% of its traffic arrives on CPU") !=
                   std::string::npos;
        },
        20s));
    auto benchmark = Process::start({.argv = {teamoctl_program(), "team0", "interrupts", "benchmark"}});
    EXPECT_EQ(0, benchmark.wait(100s)) << benchmark.err();
    fmt::print("{}", benchmark.out());
    EXPECT_THAT(benchmark.out(), testing::HasSubstr("workers: "));
    EXPECT_THAT(benchmark.out(), testing::HasSubstr("CPU time per KiB with it"));
    EXPECT_EQ("true", team.item("workers.managed"));
    EXPECT_THAT(team.item("benchmarks.workers.effect"), testing::AnyOf("gain", "none", "unclear"));
}

} // namespace
} // namespace teamo::test
