// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/metrics.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace teamo::bench {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Optional;
using testing::Pair;

/// 1 GiB out in 10 s by two ports; the host's CPU was busy for 2 s, the far one for 3 s.
Sample known_round() {
    return {.seconds = 10,
            .sent = 1024.0 * 1024 * 1024,
            .cpus = {{0, {.user = 0.2, .system = 1.2, .softirq = 0.5, .irq = 0.1, .idle = 8}},
                     {1, {.system = 3, .idle = 7}}},
            .host = CpuTime{.user = 0.2, .system = 1.2, .softirq = 0.5, .irq = 0.1, .idle = 8},
            .far = CpuTime{.system = 3, .idle = 7},
            .host_threads = 1,
            .far_threads = 0.5,
            .host_daemon = 0.02,
            .far_daemon = 0.01,
            .ports = {{"eth1",
                       {.tx_bytes = 500'000'000,
                        .tx_skbs = 10'000,
                        .tx_packets = 400'000,
                        .rx_bytes = 13'200'000,
                        .rx_skbs = 190'000,
                        .rx_packets = 200'000}},
                      {"eth2",
                       {.tx_bytes = 500'000'000,
                        .tx_skbs = 10'000,
                        .tx_packets = 400'000,
                        .rx_bytes = 13'200'000,
                        .rx_skbs = 190'000,
                        .rx_packets = 200'000}}},
            .latency = {{50, 40}, {99.9, 900}}};
}

TEST(BenchMetrics, have_their_definitions) {
    const Case what{.ports = 2};
    const auto round = known_round();
    const auto is = [&](double value, Figure figure, Basis basis = Basis::host) {
        EXPECT_THAT(value_of(figure, what, round, basis), Optional(testing::DoubleNear(value, value * 1e-9)))
            << metric_of(figure).key;
    };
    is(858.9934592, throughput);
    is(20, cpu);
    is(25, cpu, Basis::machine);
    is(2, cpu_user);
    is(12, cpu_system);
    is(6, cpu_softirq);
    is(10, process_cpu);
    is(0.2, daemon_cpu);
    is(0.1, far_daemon_cpu);
    // 2 s of CPU time for 1,048,576 KiB
    is(2e6 / 1'048'576, service_demand);
    is(5e6 / 1'048'576, service_demand, Basis::machine);
    is(3e6 / 1'048'576, far_service_demand);
    is(1e6 / 1'048'576, process_demand);
    is(0.5e6 / 1'048'576, far_process_demand);
    // By 20 % of one CPU.
    is(42.94967296, pe_index);
    is(40'000, tx_packets);
    is(1'000, tx_skbs);
    is(20'000, rx_packets);
    is(19'000, rx_skbs);
    is(50'000, tx_skb_bytes);
    is(1, fullest_port);
    is(1'200'000.0 / 400'000, packet_saving);
    is(209'715.2, io_by_size);
    is(40'000, io_measured);
    is(5, io_time);
    is(10 / 1.073741824, gigabyte_time);
    is(40, latency_50);
    is(900, latency_99_9);
}

TEST(BenchMetrics, that_were_not_measured_are_none) {
    const Case what;
    for (const auto& metric : metrics())
        EXPECT_FALSE(value_of(metric.figure, what, {}, Basis::host)) << metric.key;
    EXPECT_FALSE(value_of(joules_per_gb, what, known_round(), Basis::host));
    EXPECT_FALSE(value_of(latency_90, what, known_round(), Basis::host));
    auto requests = known_round();
    requests.sent = requests.received = 0;
    EXPECT_FALSE(value_of(pe_index, what, requests, Basis::host));
    EXPECT_FALSE(value_of(io_by_size, what, requests, Basis::host));
}

TEST(BenchMetrics, of_skbs_are_none_where_only_the_card_counts) {
    auto round = known_round();
    for (auto& [name, port] : round.ports)
        port.tx_skbs = port.rx_skbs = 0;
    for (const auto figure :
         {tx_skbs, rx_skbs, tx_skb_bytes, rx_skb_bytes, packet_saving, io_measured, io_time})
        EXPECT_FALSE(value_of(figure, {}, round, Basis::host)) << metric_of(figure).key;
    EXPECT_TRUE(value_of(tx_packets, {}, round, Basis::host));
}

TEST(BenchMetrics, show_an_uneven_port) {
    auto round = known_round();
    round.ports.at("eth1").tx_bytes *= 3;
    EXPECT_THAT(value_of(fullest_port, {}, round, Basis::host), Optional(testing::DoubleNear(1.493, 0.001)));
}

TEST(BenchMetrics, count_the_payload_of_the_ways_that_are_measured) {
    const Sample round{.seconds = 1, .sent = 125e6, .received = 250e6};
    EXPECT_THAT(value_of(throughput, {.way = Way::transmit}, round, Basis::host), Optional(DoubleEq(1000)));
    EXPECT_THAT(value_of(throughput, {.way = Way::receive}, round, Basis::host), Optional(DoubleEq(2000)));
    EXPECT_THAT(value_of(throughput, {.way = Way::both}, round, Basis::host), Optional(DoubleEq(3000)));
}

TEST(BenchMetrics, a_file_takes_as_long_as_its_connection) {
    // 16 connections sent 800 files in 10 s: 50 each. Both ways there are 32.
    Case what{.ports = 4, .load = Load::file, .clients = 4};
    EXPECT_THAT(value_of(file_time, what, {.seconds = 10, .operations = 800}, Basis::host),
                Optional(DoubleEq(200)));
    what.way = Way::both;
    EXPECT_THAT(value_of(file_time, what, {.seconds = 10, .operations = 1600}, Basis::host),
                Optional(DoubleEq(200)));
}

TEST(BenchMetrics, use_one_basis_for_all_cases) {
    Results results{.cases = {{.rounds = {known_round()}}, {.rounds = {known_round()}}}};
    EXPECT_EQ(Basis::host, basis_of(results));
    results.cases[1].rounds[0].host.reset();
    EXPECT_EQ(Basis::machine, basis_of(results));
}

// With two or three CPUs the ends share them where workers are bound.
TEST(BenchMetrics, of_bound_workers_do_not_change_the_basis_of_the_others) {
    auto shared = known_round();
    shared.host = shared.far = std::nullopt;
    Results results{.cases = {{.rounds = {known_round()}},
                              {.what = {.binding = Binding::follow}, .rounds = {shared}},
                              {.skipped = "no"}}};
    EXPECT_EQ(Basis::host, basis_of(results));
    EXPECT_EQ(Basis::machine, basis_of(results, results.cases[1]));
    EXPECT_THAT(value_of(service_demand, results.cases[1].what, shared, basis_of(results)),
                value_of(service_demand, {}, shared, Basis::machine));
    results.cases.erase(results.cases.begin());
    EXPECT_EQ(Basis::machine, basis_of(results)) << "the profile binding";
    results.cases[0].rounds = {known_round()};
    EXPECT_EQ(Basis::host, basis_of(results)) << "with CPUs for both ends";
}

TEST(BenchMetrics, are_medians_with_the_extremes_of_the_rounds) {
    EXPECT_EQ((Spread{.median = 3, .low = 1, .high = 9, .rounds = 3}), spread_of({9, 1, 3}));
    EXPECT_FALSE(spread_of(std::vector<double>{}));
    EXPECT_TRUE(agrees({.median = 100, .low = 95, .high = 105}));
    EXPECT_FALSE(agrees({.median = 100, .low = 94.9, .high = 100}));
}

TEST(BenchMetrics, have_the_parts_of_each_cpu) {
    const auto cpus = shares_by_cpu({.rounds = {known_round(), known_round(), {.cpus = {{0, {.user = 1}}}}}});
    ASSERT_THAT(cpus, ElementsAre(Pair(0, testing::_), Pair(1, testing::_)));
    EXPECT_DOUBLE_EQ(cpus.at(0).user, 0.02) << "the median";
    EXPECT_DOUBLE_EQ(cpus.at(0).system, 0.12);
    EXPECT_DOUBLE_EQ(cpus.at(0).softirq, 0.05);
    EXPECT_DOUBLE_EQ(cpus.at(0).irq, 0.01);
    EXPECT_DOUBLE_EQ(busy_share(cpus.at(0)), 0.2);
    EXPECT_DOUBLE_EQ(busy_share(cpus.at(1)), 0.3);
    EXPECT_TRUE(has_irq(cpus));
    EXPECT_FALSE(has_irq({{1, cpus.at(1)}}));
}

TEST(BenchMetrics, are_all_in_the_manual) {
    std::ifstream page(TEAMO_SOURCE_DIR "/man/teamo-metrics.7");
    std::vector<std::string> in_manual, in_program;
    for (std::string line; std::getline(page, line);) {
        std::istringstream words(line);
        std::string it, flag, key;
        if (words >> it >> flag >> key && it == ".It" && flag == "Va") in_manual.push_back(key);
    }
    for (const auto& metric : metrics())
        in_program.emplace_back(metric.key);
    EXPECT_THAT(in_manual, ElementsAreArray(in_program));
}

} // namespace
} // namespace teamo::bench
