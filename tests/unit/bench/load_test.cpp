// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/histogram.h"
#include "bench/load/order.h"
#include "bench/run/meter.h"
#include "bench/run/run_rounds.h"
#include "bench/run/traffic.h"
#include "bench/stage/placement.h"
#include "bench/stage/world.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace teamo::bench {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;

TEST(BenchOrder, is_read_as_it_is_written) {
    const Order source{.what = Serve::source, .bytes = 32'768, .buffer = 131'072};
    EXPECT_EQ(text_of(source), "source 32768 131072\n");
    EXPECT_EQ(parse_order("source 32768 131072"), source);
    EXPECT_EQ(parse_order("GET / HTTP/1.0"), (Order{.what = Serve::http}));
    for (const auto what : {Serve::sink, Serve::echo, Serve::file, Serve::store, Serve::totals}) {
        const Order order{.what = what, .bytes = 1};
        const auto text = text_of(order);
        EXPECT_EQ(parse_order(std::string_view(text).substr(0, text.size() - 1)), order);
        EXPECT_LE(text.size(), longest_order);
    }
}

TEST(BenchOrder, is_refused_if_it_is_anything_else) {
    for (const auto* line : {"", "sink", "sink 1", "sink 1 x", "sink -1 0", "drink 1 1", "sink 1 1 1",
                             "source 65537 0", "source 1 1048577", "file 6000001 0", "store 6000001 0"})
        EXPECT_EQ(parse_order(line), std::nullopt) << line;
}

TEST(BenchOrder, of_every_profile_is_served) {
    for (const auto* profile : {"quick", "peers", "binding", "paper"})
        for (const auto& what : cases_of({.profile = profile, .ports = 8})) {
            EXPECT_LE(what.message, longest_message);
            EXPECT_LE(what.socket_buffer, largest_buffer);
        }
    EXPECT_TRUE(parse_order("file 6000000 0"));
}

TEST(BenchHistogram, finds_percentiles_within_three_per_cent) {
    Histogram histogram;
    EXPECT_EQ(histogram.percentile(50), std::nullopt);
    for (int number = 1; number <= 1000; ++number)
        histogram.add(std::chrono::microseconds(number));
    EXPECT_EQ(histogram.count(), 1000U);
    EXPECT_NEAR(*histogram.percentile(50), 500, 15);
    EXPECT_NEAR(*histogram.percentile(99), 990, 30);
    EXPECT_NEAR(*histogram.percentile(99.9), 999, 30);
    Histogram both;
    both.add(histogram);
    both.add(histogram);
    EXPECT_EQ(both.count(), 2000U);
    histogram.clear();
    EXPECT_EQ(histogram.count(), 0U);
}

TEST(BenchHistogram, takes_any_duration) {
    Histogram histogram;
    for (const auto duration : {-1ns, 0ns, 1ns, 31ns, 32ns, 33ns, std::chrono::nanoseconds::max()})
        histogram.add(duration);
    EXPECT_EQ(histogram.count(), 7U);
}

TEST(BenchPlacement, gives_each_end_its_own_half) {
    const auto two = place({0, 1}, Binding::none).value();
    EXPECT_TRUE(two.apart);
    EXPECT_THAT(two.host.threads, ElementsAre(0));
    EXPECT_THAT(two.far.packets, ElementsAre(1));
    EXPECT_FALSE(place({0}, Binding::none).value().apart);
}

TEST(BenchPlacement, binds_the_workers_to_the_arrival_or_to_another_cpu) {
    const CpuList four{0, 1, 2, 3};
    const auto follow = place(four, Binding::follow).value(), cross = place(four, Binding::cross).value(),
               unbound = place(four, Binding::unbound).value();
    EXPECT_THAT(follow.host.packets, ElementsAre(0));
    EXPECT_THAT(follow.host.threads, ElementsAre(0));
    EXPECT_THAT(cross.host.packets, ElementsAre(0));
    EXPECT_THAT(cross.host.threads, ElementsAre(1));
    EXPECT_THAT(unbound.host.packets, ElementsAre(0));
    EXPECT_THAT(unbound.host.threads, ElementsAre(0, 1));
    EXPECT_THAT(cross.far.threads, ElementsAre(2, 3));
    EXPECT_FALSE(place({0, 1}, Binding::cross).value().apart);
    EXPECT_EQ(place({0}, Binding::follow).error().number, ENOTSUP);
}

TEST(BenchWorld, is_not_ended_by_a_signal_that_is_ignored) {
    const auto before = std::signal(SIGHUP, SIG_IGN); // as nohup does
    EXPECT_THAT(ending_signals(), testing::Not(Contains(SIGHUP)));
    std::signal(SIGHUP, SIG_DFL);
    EXPECT_THAT(ending_signals(), Contains(SIGHUP));
    std::signal(SIGHUP, before);
}

TEST(BenchMeter, adds_the_cpus_of_an_end) {
    const std::map<unsigned, CpuTime> times{{0, {.softirq = 0.2}}};
    EXPECT_NEAR(sum_of(times, {0, 1}).softirq, 0.2, 1e-9);
    EXPECT_EQ(sum_of(times, {1}), CpuTime{});
}

TEST(BenchMeter, has_energy_only_where_a_meter_is) {
    Reading before, after;
    EXPECT_EQ(joules_between(before, after), std::nullopt);
    before.microjoules["intel-rapl:0"] = 1'000'000;
    after.microjoules["intel-rapl:0"] = 3'500'000;
    EXPECT_EQ(joules_between(before, after), 2.5);
    EXPECT_EQ(joules_between(after, before), std::nullopt); // it has started anew
}

TEST(BenchMeter, counts_each_processor_once) {
    const std::filesystem::path folder = testing::TempDir() + fmt::format("powercap-{}", ::getpid());
    const auto add = [&folder](const char* zone, const char* name, const char* energy) {
        std::filesystem::create_directories(folder / zone);
        std::ofstream(folder / zone / "name") << name << "\n";
        std::ofstream(folder / zone / "energy_uj") << energy << "\n";
    };
    add("intel-rapl:0", "package-0", "100");
    add("intel-rapl:0:0", "core", "40");
    add("intel-rapl:1", "psys", "170"); // has the package in it
    add("intel-rapl:2", "package-1", "50");
    add("intel-rapl-mmio:0", "package-0", "100");
    const std::map<std::string, std::uint64_t> packages{{"intel-rapl:0", 100}, {"intel-rapl:2", 50}};
    EXPECT_EQ(packages, read_rapl(folder));
    std::filesystem::remove_all(folder);
}

TEST(BenchMeter, is_known_if_only_root_may_read_it) {
    const std::filesystem::path folder = testing::TempDir() + fmt::format("secret-{}", ::getpid());
    const auto zone = folder / "intel-rapl:0";
    std::filesystem::create_directories(zone);
    std::ofstream(zone / "name") << "package-0\n";
    std::ofstream(zone / "energy_uj") << "100\n";
    EXPECT_FALSE(rapl_needs_root(folder));
    std::filesystem::permissions(zone / "energy_uj", std::filesystem::perms::none);
    const auto user = ::geteuid();
    constexpr uid_t nobody = 65'534;
    ASSERT_TRUE(user != 0 || ::seteuid(nobody) == 0);
    EXPECT_TRUE(rapl_needs_root(folder));
    EXPECT_TRUE(read_rapl(folder).empty());
    EXPECT_EQ(::seteuid(user), 0);
    std::filesystem::remove_all(folder);
    EXPECT_FALSE(rapl_needs_root(folder)) << "no meter";
}

TEST(BenchTraffic, counts_at_a_shared_server_what_the_own_clients_sent) {
    Snapshot before, after;
    after.meters.cpu.at = before.meters.cpu.at + 1s;
    before.host_clients = {.sent = 1'000, .received = 0};
    after.host_clients = {.sent = 5'000, .received = 300};
    after.far_server = {.sent = 9'000, .received = 90'000}; // also those of others
    const auto shared = sample_between({.far_is_shared = true}, before, after);
    EXPECT_EQ(shared.sent, 4'000);
    EXPECT_EQ(shared.received, 300);
    EXPECT_EQ(sample_between({}, before, after).sent, 90'000) << "where it arrives";
}

TEST(BenchTraffic, has_the_cpu_time_of_the_daemons_that_run) {
    Snapshot before, after;
    before.host_daemon = 1.5;
    after.host_daemon = 1.75;
    before.far_daemon = 2; // it ended
    const auto sample = sample_between({}, before, after);
    EXPECT_EQ(sample.host_daemon, 0.25);
    EXPECT_EQ(sample.far_daemon, std::nullopt);
}

TEST(BenchTraffic, has_no_skbs_if_their_counters_started_anew) {
    Snapshot before, after;
    before.ports["eth1"] = {.tx_bytes = 100, .tx_skbs = 1'000, .tx_packets = 10, .rx_skbs = 7};
    after.ports["eth1"] = {.tx_bytes = 300, .tx_skbs = 20, .tx_packets = 30, .rx_skbs = 9};
    EXPECT_EQ(sample_between({}, before, after).ports.at("eth1"),
              (PortTraffic{.tx_bytes = 200, .tx_packets = 20}));
    std::swap(before, after);
    EXPECT_EQ(sample_between({}, before, after).ports.at("eth1"), PortTraffic{}) << "a port came anew";
}

TEST(BenchProgress, shows_the_time_left) {
    const auto steps = [](std::size_t count) { return Steps{.count = count, .time = count * 10s}; };
    EXPECT_EQ(progress_line({}, steps(4), 0s, "a"), "[--------------------] 0/4  a");
    EXPECT_EQ(progress_line(steps(1), steps(3), 30s, "b"), "[#####---------------] 1/4  1:30 left  b");
    EXPECT_EQ(progress_line(steps(4), {}, 30s, "c"), "[####################] 4/4  0:00 left  c");
}

// Four warm-ups of half a second took a second each, and three rounds of a minute for each case follow.
TEST(BenchProgress, weighs_a_step_by_its_length) {
    EXPECT_EQ(progress_line({.count = 4, .time = 2s}, {.count = 12, .time = 12min}, 4s, "d"),
              "[--------------------] 4/16  12:06 left  d");
}

TEST(BenchProgress, does_not_wait_for_what_is_not_measured) {
    const Options options{.round = 60s};
    const std::vector<Measured> cases{{}, {.skipped = "no"}, {.failed = "lost"}};
    const auto steps = steps_of(order_of_rounds(cases.size(), 3), cases, options);
    EXPECT_EQ(steps.count, 4U);
    EXPECT_EQ(steps.time, 180s + warm_up);
}

} // namespace
} // namespace teamo::bench
