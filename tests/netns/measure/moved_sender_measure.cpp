// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The hash "cpu" with a sender that moves between CPUs: its flows must keep their order. A machine whose CPUs
// stall reorders packets of one port too, because a device's packets wait on the CPU that sent them: up to 8
// of 12,000 segments with a static hash. So a few are accepted. Flows that moved at once would reorder half
// of the datagrams, and a thousand segments (of eight connections).
#include "netns/configs.h"
#include "support/traffic/flows.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace teamo::test {
namespace {

constexpr std::string_view by_cpu = R"({"name": "loadbalance", "tx_hash": ["cpu"]})";

/// Binds all threads of this process, including the senders, to one CPU.
void move_process_to(unsigned cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
        sched_setaffinity(std::stoi(task.path().filename()), sizeof only, &only);
}

constexpr std::uint64_t few_late = 20;

/// eth1 always has a queue, eth2 never: packets that move to eth2 too early overtake.
class HashByCpu : public testing::Test {
protected:
    void SetUp() override {
        if (cpus_.size() < 2) GTEST_SKIP() << "one CPU";
    }
    ~HashByCpu() override {
        cpu_set_t all;
        CPU_ZERO(&all);
        for (const auto cpu : cpus_)
            CPU_SET(cpu, &all);
        for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
            sched_setaffinity(std::stoi(task.path().filename()), sizeof all, &all);
    }

    /// Sends from the two CPUs in turn for this long.
    void move_about(std::chrono::seconds time) const {
        const auto start = SteadyClock::now();
        for (std::size_t turn = 0; since(start) < time; ++turn) {
            move_process_to(cpus_[turn % 2]);
            std::this_thread::sleep_for(25ms);
        }
    }
    static void make_eth1_narrow(const Cabling& wires, std::string_view limit) {
        must(wires.host(),
             fmt::format("tc qdisc replace dev eth1 root tbf rate 25mbit burst 16k limit {}", limit));
    }

    std::vector<unsigned> cpus_ = usable_cpus();
};

TEST_F(HashByCpu, keeps_the_order_of_a_moved_udp_sender) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(team_config(by_cpu, ports_object(2)));
    bring_up(wires, team);
    if (by_driver(wires)) GTEST_SKIP() << "the driver does not remember the port of a flow";
    make_eth1_narrow(wires, "1m");
    move_process_to(cpus_[0]);
    Stream stream(
        {.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 6'000, .size = 1000});
    ASSERT_TRUE(stream.flows(3'000));
    const auto before = counters(wires.host(), "eth1");
    move_about(3s);
    const auto by_eth1 = counters(wires.host(), "eth1") - before;
    stream.stop();
    fmt::print("{}; {} by eth1\n", text_of(stream.tally()), by_eth1.tx_packets);
    EXPECT_GE(few_late, stream.tally().reordered) << text_of(stream.tally());
}

TEST_F(HashByCpu, keeps_the_order_of_a_moved_tcp_sender) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(team_config(by_cpu, ports_object(2)));
    bring_up(wires, team);
    if (by_driver(wires)) GTEST_SKIP() << "the driver does not remember the port of a flow";
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    make_eth1_narrow(wires, "64m");
    // The queue drops nothing: segments after a lost one would count as reordered too.
    must(wires.host(), "echo 4096 65536 131072 > /proc/sys/net/ipv4/tcp_wmem");
    move_process_to(cpus_[0]);
    const BulkFlows bulk({.from = &wires.host(),
                          .to = &wires.client(),
                          .address = client_v4,
                          .rates = std::vector(8, 0.75e6)});
    const auto start = bulk.received();
    ASSERT_TRUE(eventually("data arrives", [&] { return bulk.received() > start + 2'000'000; }));
    const auto before = tcp_counters(wires.client());
    const auto sent = bulk.received();
    move_about(3s);
    const auto after = tcp_counters(wires.client());
    const auto late = after.at("TCPOFOQueue") - before.at("TCPOFOQueue");
    fmt::print("{} bytes, {} segments out of order\n", bulk.received() - sent, late);
    EXPECT_GT(bulk.received() - sent, 6'000'000U);
    EXPECT_GE(few_late, late);
}

} // namespace
} // namespace teamo::test
