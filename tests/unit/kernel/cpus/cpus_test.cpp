// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/cpus.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class Topology : public test::Tree {
protected:
    const std::string cpus_ = "sys/devices/system/cpu/", nodes_ = "sys/devices/system/node/";

    void cpu(unsigned number, const std::string& core, const std::string& cache) {
        const auto folder = fmt::format("{}cpu{}/", cpus_, number);
        file(folder + "topology/core_cpus_list", core);
        file(folder + "cache/index0/level", "1");
        file(folder + "cache/index0/shared_cpu_list", core);
        file(folder + "cache/index3/level", "3");
        file(folder + "cache/index3/shared_cpu_list", cache);
    }

    /// Two sockets of two cores of two threads.
    void server() {
        file(cpus_ + "present", "0-7");
        file(cpus_ + "online", "0-7");
        for (unsigned number = 0; number < 8; ++number)
            cpu(number, fmt::format("{},{}", number % 4, number % 4 + 4),
                number % 4 < 2 ? "0-1,4-5" : "2-3,6-7");
        file(nodes_ + "online", "0-1");
        file(nodes_ + "node0/cpulist", "0-1,4-5");
        file(nodes_ + "node1/cpulist", "2-3,6-7");
        file(nodes_ + "node0/distance", "10 21");
        file(nodes_ + "node1/distance", "21 10");
    }

    CpuTopology read() {
        auto topology = read_cpu_topology(root());
        EXPECT_TRUE(topology);
        return topology ? *topology : CpuTopology();
    }

    CpuList isolated() {
        CpuList list;
        for (const auto& cpu : read().cpus)
            if (cpu.isolated) list.push_back(cpu.number);
        return list;
    }
};

TEST_F(Topology, reads_server_with_two_sockets) {
    server();
    const auto topology = read();
    ASSERT_EQ(topology.cpus.size(), 8);
    EXPECT_EQ(topology.cpus[1], (Cpu{.number = 1, .core = 1, .cache = 0, .node = 0}));
    EXPECT_EQ(topology.cpus[6], (Cpu{.number = 6, .core = 2, .cache = 2, .node = 1}));
    EXPECT_EQ(topology.distance(0, 0), 10);
    EXPECT_EQ(topology.distance(0, 1), 21);
}

TEST_F(Topology, keeps_node_of_offline_cpu) {
    server();
    file(cpus_ + "online", "0-5,7");
    remove(cpus_ + "cpu6/topology");
    remove(cpus_ + "cpu6/cache");
    folder(cpus_ + "cpu6/node1");
    file(nodes_ + "node1/cpulist", "2-3,7");
    EXPECT_EQ(*read().find(6), (Cpu{.number = 6, .core = 6, .cache = 6, .node = 1, .online = false}));
}

TEST_F(Topology, reads_thread_siblings_of_old_kernel) {
    file(cpus_ + "online", "0-1");
    file(cpus_ + "cpu1/topology/thread_siblings_list", "0-1");
    EXPECT_EQ(read().find(1)->core, 0);
}

TEST_F(Topology, uses_package_if_caches_are_unknown) {
    file(cpus_ + "online", "0-3");
    file(cpus_ + "cpu3/topology/package_cpus_list", "2-3");
    EXPECT_EQ(read().find(3)->cache, 2);
    EXPECT_EQ(read().find(1)->cache, 1) << "nothing is known of it";
    EXPECT_THAT(read().distances, IsEmpty());
}

TEST_F(Topology, indexes_distances_by_node_number) {
    server();
    file(nodes_ + "online", "0,8");
    file(nodes_ + "node8/cpulist", "2-3,6-7");
    file(nodes_ + "node0/distance", "10 40");
    file(nodes_ + "node8/distance", "40 10");
    remove(nodes_ + "node1");
    const auto topology = read();
    EXPECT_EQ(topology.find(7)->node, 8);
    EXPECT_EQ(topology.distance(0, 8), 40);
    EXPECT_EQ(topology.distance(8, 8), 10);
    EXPECT_GT(topology.distance(0, 3), 40) << "there is no such node";
}

TEST_F(Topology, reads_isolation_from_kernel_options_and_cpusets) {
    server();
    EXPECT_THAT(isolated(), IsEmpty());
    file(cpus_ + "isolated", "1");
    file(cpus_ + "nohz_full", "2");
    EXPECT_THAT(isolated(), ElementsAre(1, 2));
    file(cpus_ + "nohz_full", "  (null)"); // some kernels print this for none
    file("sys/fs/cgroup/cpuset.cpus.isolated", "4-5");
    EXPECT_THAT(isolated(), ElementsAre(1, 4, 5));
    file("sys/fs/cgroup/unified/cpuset.cpus.isolated", "6");
    EXPECT_THAT(isolated(), ElementsAre(1, 4, 5, 6));
}

TEST_F(Topology, reads_the_cpus_that_may_have_interrupts) {
    server();
    const auto by_default = [this] { return read().eligible_for_interrupts({}); };
    EXPECT_EQ(8, by_default().size()) << "the file cannot be read";
    file("proc/irq/default_smp_affinity", "ffff,ffffffff");
    EXPECT_EQ(8, by_default().size());
    file("proc/irq/default_smp_affinity", "0f"); // irqaffinity=0-3
    file(cpus_ + "isolated", "1");
    EXPECT_THAT(by_default(), ElementsAre(0, 2, 3));
    EXPECT_THAT(read().eligible_for_interrupts({1, 6}), ElementsAre(1, 6)) << "the configuration decides";
    EXPECT_EQ(7, read().eligible({}).size()) << "processes may run on the others";
}

TEST_F(Topology, keeps_the_cpus_free_that_irqbalance_keeps_free) {
    server();
    auto topology = read();
    topology.keep_free({0, 1, 7});
    EXPECT_THAT(topology.eligible_for_interrupts({}), ElementsAre(2, 3, 4, 5, 6));
    EXPECT_THAT(topology.eligible_for_interrupts({1}), ElementsAre(1)) << "the configuration decides";
    topology.keep_free({2, 3, 4, 5, 6});
    EXPECT_EQ(5, topology.eligible_for_interrupts({}).size()) << "none would be left";
}

TEST_F(Topology, distinguishes_fast_and_efficient_cores) {
    server();
    file("sys/devices/cpu_core/cpus", "0-3");
    file("sys/devices/cpu_atom/cpus", "4-6");
    file("sys/devices/cpu_lowpower/cpus", "7");
    const auto topology = read();
    EXPECT_EQ(topology.find(3)->capacity, 1024);
    EXPECT_LT(topology.find(4)->capacity, 1024);
    EXPECT_LT(topology.find(7)->capacity, topology.find(6)->capacity);
    file(cpus_ + "cpu4/cpu_capacity", "700"); // the kernel reports the capacity itself
    EXPECT_EQ(read().find(4)->capacity, 700);
    EXPECT_EQ(read().find(5)->capacity, 1024);
}

TEST_F(Topology, fails_without_list_of_online_cpus) {
    EXPECT_EQ(read_cpu_topology(root()).error().number, ENOENT);
}

TEST_F(Topology, reads_this_machine) {
    const auto topology = read_cpu_topology();
    ASSERT_TRUE(topology);
    EXPECT_THAT(topology->cpus, testing::Contains(testing::Field(&Cpu::online, true)));
}

TEST(CpuColumns, reads_each_cpu) {
    const auto times = parse_cpu_columns("cpu  11 22 33 44 55 66 77 88 99 110\n"
                                         "cpu0 1 2 3 40 5 6 7 8 9 10\n"
                                         "cpu12 100 0 10 1000 0 1 2 0 50 0 9999\n"
                                         "intr 5 6 7\nctxt 12\n");
    const CpuColumns first{.user = 1 + 2, .system = 3, .idle = 40 + 5, .irq = 6, .softirq = 7, .steal = 8};
    EXPECT_THAT(
        times,
        ElementsAre(Pair(0, first),
                    Pair(12, CpuColumns{.user = 100, .system = 10, .idle = 1000, .irq = 1, .softirq = 2})));
}

TEST(CpuColumns, ignores_truncated_and_invalid_lines) {
    EXPECT_THAT(parse_cpu_columns("cpu0 1 2 3 4 5 6 7\ncpux 1 2 3 4 5 6 7 8\ncpu1 1 2 x 4 5 6 7 8"),
                IsEmpty());
    EXPECT_THAT(parse_cpu_columns(""), IsEmpty());
    const std::string huge = "cpu 18446744073709551615 18446744073709551615 1 1 1 1 1 1 1 1";
    EXPECT_THAT(parse_cpu_columns("cpu0" + huge.substr(3)), IsEmpty()) << "the sum of both wraps";
}

TEST(CpuColumns, reads_this_machine) {
    const auto times = read_cpu_columns();
    ASSERT_TRUE(times);
    ASSERT_FALSE(times->empty());
    const auto& one = times->begin()->second;
    EXPECT_GT(one.user + one.system + one.idle, 0U);
}

TEST(CpuLoad, is_share_of_elapsed_time) {
    const CpuColumns earlier{.user = 50, .system = 30, .idle = 1000, .irq = 4, .softirq = 6, .steal = 20};
    EXPECT_EQ(load_between(earlier,
                           {.user = 70, .system = 40, .idle = 1025, .irq = 14, .softirq = 21, .steal = 40}),
              (CpuLoad{.work = 0.5, .interrupts = 0.25}));
    EXPECT_EQ(load_between(earlier, earlier), CpuLoad{});
}

TEST(CpuLoad, ignores_counter_that_went_back) {
    EXPECT_EQ(load_between({.user = 100, .idle = 1000, .irq = 10}, {.user = 150, .idle = 900, .irq = 10}),
              (CpuLoad{.work = 1, .interrupts = 0}));
}

TEST(BusyTime, is_all_but_idling_waiting_and_stolen) {
    const CpuColumns earlier{.user = 5, .idle = 100, .steal = 10}, later{.user = 6, .idle = 220, .steal = 40};
    EXPECT_NEAR(busy_seconds(earlier, later, 2, 100), 2 - 1.2 - 0.3, 1e-9);
    EXPECT_EQ(busy_seconds(earlier, later, 1.4, 100), 0) << "a tick more than the clock";
    EXPECT_NEAR(busy_seconds(later, earlier, 2, 100), 2, 1e-9) << "the counters of a CPU that was offline";
}

TEST(BusyTime, leaves_out_a_cpu_that_was_offline) {
    const CpuReading earlier{.cpus = {{0, {.idle = 100}}, {1, {.idle = 100}}}},
        later{.at = earlier.at + 1s, .cpus = {{0, {.idle = 150}}, {2, {.idle = 3}}}};
    EXPECT_NEAR(busy_seconds(earlier, later, 100), 0.5, 1e-9);
}

TEST(CpuReading, divides_what_is_not_idle_as_the_ticks_do) {
    CpuReading before{.cpus = {{0, {.idle = 100}}}};
    CpuReading after{.at = before.at + std::chrono::seconds(2),
                     .cpus = {{0, {.user = 10, .system = 20, .idle = 200, .softirq = 10, .steal = 20}}}};
    // 2 s, 1 s of it idle and 0.2 s stolen: the ticks found only 0.4 s of the other 0.8 s.
    const auto times = times_between(before, after, 100);
    EXPECT_NEAR(times.at(0).busy(), 0.8, 1e-9);
    EXPECT_NEAR(times.at(0).user, 0.2, 1e-9);
    EXPECT_NEAR(times.at(0).system, 0.4, 1e-9);
    EXPECT_NEAR(times.at(0).softirq, 0.2, 1e-9);
    EXPECT_NEAR(times.at(0).idle, 1, 1e-9);
}

TEST(IdleTimes, are_read_of_each_cpu) {
    constexpr auto timer_list = R"(Timer List Version: v0.10
now at 7000000000000 nsecs

cpu: 0
 clock 0:
  .base:       0000000073121a96
  .tick_stopped   : 0
  .idle_entrytime : 6999000000000 nsecs
  .idle_sleeptime : 1012624090746 nsecs
  .iowait_sleeptime: 375909254 nsecs
cpu: 1
  .tick_stopped   : 1
  .idle_entrytime : 6999500000000 nsecs
  .idle_sleeptime : 5000000000 nsecs
  .iowait_sleeptime: 0 nsecs
cpu: 2
  .idle_sleeptime : 9 nsecs
Tick Device: mode:     1
)";
    using namespace std::chrono_literals;
    EXPECT_THAT(parse_idle_times(timer_list), testing::ElementsAre(testing::Pair(0, 1'013'000'000'000ns),
                                                                   testing::Pair(1, 5'500'000'000ns)))
        << "of the third not all is there";
    EXPECT_TRUE(parse_idle_times("").empty());
}

TEST(IdleTimes, count_before_the_ticks_of_proc_stat) {
    using namespace std::chrono_literals;
    const CpuColumns earlier{.idle = 100, .exact_idle = 1'009ms}, later{.idle = 190, .exact_idle = 1'900ms};
    EXPECT_DOUBLE_EQ(0.891, idle_seconds(earlier, later, 100));
    EXPECT_DOUBLE_EQ(0.9, idle_seconds({.idle = 100}, later, 100)) << "one reading has none";
    EXPECT_NEAR(0.109, busy_seconds(earlier, later, 1, 100), 1e-9);
}

} // namespace
} // namespace teamo
