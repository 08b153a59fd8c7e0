// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Demo with real traffic: a team of four cables of 1 Gbit/s that keeps TSO, and pulled cables. Exit status 1
// if it shows a defect; figures that the machine explains are only reported.
#include "demo/failover.h"
#include "demo/throughput.h"
#include "support/net/world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace teamo::demo {
namespace {

struct Length {
    ThroughputLength throughput;
    FailoverLength failover;
};
/// For a test: long enough to show a defect.
constexpr Length brief{.throughput = {.alone = 1, .rounds = 1}, .failover = {.clients = 2, .pulls = 5}};

std::string read_config(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) throw test::SetupError(path + " cannot be read");
    return text.str();
}

/// Uses the programs in this program's directory, and finds the tools even if the PATH of root lacks
/// /usr/sbin (as with "su").
void find_programs() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    ::setenv("TEAMO_DAEMON", (here / "teamd-offload").c_str(), /*overwrite=*/0);
    ::setenv("TEAMO_TEAMOCTL", (here / "teamoctl").c_str(), /*overwrite=*/0);
    const char* path = std::getenv("PATH");
    ::setenv("PATH", fmt::format("{}:/usr/sbin:/sbin", path != nullptr ? path : "/usr/bin:/bin").c_str(), 1);
}

void need_programs() {
    if (::geteuid() != 0) throw test::SetupError("needs network namespaces: run it as root");
    const auto lacks = [](const std::string& program) {
        return test::run({.argv = {"/bin/sh", "-c", fmt::format("command -v '{}'", program)}}).status != 0;
    };
    for (const auto* tool : {"ip", "tc", "ethtool", "iperf3", "teamdctl"})
        if (lacks(tool))
            throw test::SetupError(fmt::format("{} is missing; ./quickstart demo installs it", tool));
    for (const auto& program : {test::daemon_program(), test::teamoctl_program()})
        if (lacks(program))
            throw test::SetupError(fmt::format("{} is missing; ./quickstart demo builds it", program));
}

void show_state(const Report& report, const Stage& stage) {
    report.step("teamdctl team0 state:");
    report.quote(stage.team().teamdctl({"state"}).out);
    report.step("teamoctl team0 balance (a veth reports 10000 Mbit/s; tbf shapes each to 1000):");
    report.quote(stage.team().teamoctl({"balance"}).out);
}

int play(const std::string& config, const Length& length) {
    Report report;
    OtherLoad others;
    others.look(report);
    report.step("setting up a host with four cables of 1 Gbit/s, eight clients behind them, and the team");
    const Stage stage(config);
    stage.await_carrying(cables);
    show_state(report, stage);
    show_throughput(report, others, stage, length.throughput);
    show_failover(report, others, stage, length.failover);
    report.step("teamoctl team0 balance, at the end:");
    report.quote(stage.team().teamoctl({"balance"}).out);
    return report.conclude() ? 0 : 1;
}

} // namespace
} // namespace teamo::demo

int main(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    const bool brief = std::erase(words, "--brief") != 0;
    if (words.size() > 1 || (words.size() == 1 && words[0].starts_with('-'))) {
        fmt::print(stderr, "usage: teamo-demo [--brief] [CONFIGURATION of team0 with eth1 to eth4]\n");
        return 2;
    }
    try {
        const auto text = teamo::demo::read_config(words.empty() ? TEAMO_DEMO_CONFIG : words[0]);
        teamo::demo::find_programs();
        teamo::demo::need_programs();
        teamo::test::enter_private_world();
        teamo::test::furnish_world();
        return teamo::demo::play(text, brief ? teamo::demo::brief : teamo::demo::Length{});
    } catch (const std::exception& error) {
        fmt::print(stderr, "teamo-demo: {}\n", error.what());
        return 1;
    }
}
