// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What following buys on this machine: CPU time for a KiB, and throughput, bound and not bound in turn.
#include "netns/configs.h"
#include "support/figure.h"
#include "support/traffic/on_cpu.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

// What it buys is this machine's affair, so only harm is a fault. How it is worked out is in
// unit/ctl/proof_test.cpp.
TEST(Workers, benchmark_finds_no_harm) {
    if (!promises_are_held()) GTEST_SKIP() << "a measurement: ./quickstart measure takes it";
    if (usable_cpus().size() < 2) GTEST_SKIP() << "one CPU";
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(
        team_config(by_flow, ports_object(2), R"("workers": [{"command": "iperf3"}], )"));
    bring_up(wires, team);
    const auto server = Process::start({.argv = {"iperf3", "-s"}, .in = &wires.host()});
    ASSERT_TRUE(eventually("the server listens", [&] {
        return !run({.argv = {"ss", "-Hltn", "sport = 5201"}, .in = &wires.host()}).out.empty();
    }));
    // A load that fits into the machine: else it would say who is first at the CPU.
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
    auto prove = Process::start({.argv = {teamoctl_program(), "team0", "interrupts", "benchmark"}});
    EXPECT_EQ(0, prove.wait(100s)) << prove.err();
    fmt::print("{}", prove.out());
    EXPECT_THAT(prove.out(), testing::HasSubstr("workers: "));
    EXPECT_THAT(prove.out(), testing::HasSubstr("CPU time per KiB with it"));
    EXPECT_EQ("true", team.item("workers.managed"));
    EXPECT_THAT(team.item("benchmarks.workers.effect"), testing::AnyOf("gain", "none", "unclear"));
}

} // namespace
} // namespace teamo::test
