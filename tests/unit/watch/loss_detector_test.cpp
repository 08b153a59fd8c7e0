// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/loss_detector.h"

#include <gmock/gmock.h>

#include <random>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Four ports, whose buckets send some segments in each tick and lose some.
class LossOfFour : public testing::Test {
protected:
    LossOfFour() {
        for (std::uint8_t slot = 1; slot <= 4; ++slot)
            ports.push_back({.port = IfIndex{slot}, .slot = Slot{slot}, .carries = true});
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            owners[bucket] = Slot{static_cast<std::uint8_t>(bucket / 64 + 1)};
        step(); // the first counters only begin
    }
    void step() {
        now += LossDetector::tick;
        detector.step(ports, &counters, owners, now);
    }
    /// A tick in which this bucket sends, and some of it is lost at random.
    void send(std::size_t bucket, std::uint64_t segments, double lost) {
        counters[bucket].tcp_segments += segments;
        counters[bucket].tcp_again += std::binomial_distribution<std::uint64_t>(segments, lost)(random);
    }
    /// Seconds of traffic in `flows` buckets of each port; returns the seconds until `port` was found.
    std::optional<double> run(double seconds, unsigned flows, std::uint64_t segments_per_second,
                              std::array<double, 4> lost, IfIndex port = IfIndex{3}) {
        const auto start = now;
        while (now - start < std::chrono::duration<double>(seconds)) {
            for (std::size_t slot = 0; slot < 4; ++slot)
                for (std::size_t flow = 0; flow < flows; ++flow)
                    send(slot * 64 + flow, segments_per_second / 4 / flows, lost.at(slot));
            step();
            if (detector.finding(port) != nullptr) return std::chrono::duration<double>(now - start).count();
        }
        return std::nullopt;
    }

    LossDetector detector;
    std::vector<LossSample> ports;
    AllBucketCounters counters{};
    std::array<Slot, bucket_count> owners{};
    Clock::time_point now = Clock::time_point(1h);
    std::mt19937 random{1};
};

TEST_F(LossOfFour, is_found_within_two_seconds_at_25_mbit_per_second) {
    for (const unsigned flows : {1U, 4U, 16U}) {
        const auto time = run(3, flows, 2100, {0, 0, 0.02, 0});
        ASSERT_TRUE(time) << flows;
        EXPECT_LE(*time, 2) << flows;
        EXPECT_THAT(detector.finding(IfIndex{3})->what, HasSubstr("of its TCP segments are sent again"));
        EXPECT_TRUE(detector.finding(IfIndex{3})->by_flows);
        for (const std::uint32_t other : {1U, 2U, 4U})
            EXPECT_EQ(detector.finding(IfIndex{other}), nullptr);
        detector = LossDetector();
        step();
    }
}

TEST_F(LossOfFour, of_slow_flows_is_known_at_other_ports_within_a_period) {
    // The bucket of a slow receiver has left for port 1, where the rest is clean.
    const std::vector<std::uint8_t> suspects{3};
    const auto start = now;
    std::optional<double> lost;
    while (!lost && now - start < 30s) {
        for (std::size_t slot = 0; slot < 4; ++slot)
            send(slot * 64, 500, 0);
        send(3, 10, 0.05);
        step();
        lost = detector.lost_by(suspects);
    }
    EXPECT_THAT(lost, testing::Optional(testing::Gt(10.0)));
}

TEST_F(LossOfFour, is_found_with_little_traffic_within_a_minute) {
    EXPECT_TRUE(run(61, 4, 120, {0, 0, 0.02, 0}));
}

/// Nothing is counted while nothing is sent, and the segments of a burst are those since the burst before.
TEST_F(LossOfFour, is_found_in_bursts_between_rests) {
    for (int burst = 0; burst < 12 && detector.finding(IfIndex{3}) == nullptr; ++burst) {
        for (std::size_t slot = 0; slot < 4; ++slot)
            send(slot * 64, 400, slot == 2 ? 0.05 : 0);
        step();
        now += 4s;
        detector.step(ports, nullptr, owners, now);
    }
    EXPECT_NE(detector.finding(IfIndex{3}), nullptr);
}

TEST_F(LossOfFour, is_not_found_in_clean_traffic) {
    EXPECT_FALSE(run(1800, 8, 8000, {0, 0, 0, 0}));
    for (const auto& port : ports)
        EXPECT_EQ(detector.finding(port.port), nullptr);
}

TEST_F(LossOfFour, is_not_found_in_congestion_that_all_ports_share) {
    EXPECT_FALSE(run(1800, 8, 8000, {0.01, 0.02, 0.03, 0.01}));
}

TEST_F(LossOfFour, is_not_found_if_few_segments_are_lost) {
    EXPECT_FALSE(run(600, 8, 8000, {0, 0, 0.001, 0}));
}

TEST_F(LossOfFour, is_not_found_for_one_slow_receiver_of_many) {
    for (int tick = 0; tick < 1200; ++tick) {
        for (std::size_t slot = 0; slot < 4; ++slot)
            for (std::size_t flow = 0; flow < 8; ++flow)
                send(slot * 64 + flow, 250, slot == 2 && flow == 0 ? 0.2 : 0);
        step();
        ASSERT_EQ(detector.finding(IfIndex{3}), nullptr) << tick;
    }
}

TEST_F(LossOfFour, is_not_found_for_one_dead_receiver_in_light_traffic) {
    for (int tick = 0; tick < 240; ++tick) {
        for (std::size_t slot = 0; slot < 4; ++slot)
            for (std::size_t flow = 0; flow < 64; ++flow)
                send(slot * 64 + flow, 12, 0);
        if (tick >= 40) send(2 * 64, 8, 1);
        step();
        ASSERT_EQ(detector.finding(IfIndex{3}), nullptr) << tick;
    }
}

TEST_F(LossOfFour, is_measured_by_the_ports_own_limit) {
    ports[2].max_loss = 50;
    EXPECT_FALSE(run(20, 8, 8000, {0, 0, 0.02, 0}));
    EXPECT_TRUE(run(3, 8, 8000, {0, 0, 0.1, 0}));
}

TEST_F(LossOfFour, is_not_found_if_counters_begin_anew) {
    for (auto& port : ports)
        port.errors = {
            .rx_packets = 1'000'000, .tx_packets = 1'000'000, .rx_crc = 1, .rx_missed = 1, .tx = 1};
    step();
    for (auto& port : ports)
        port.errors = {};
    counters = {};
    for (int tick = 0; tick < 50; ++tick)
        step();
    for (const auto& port : ports)
        EXPECT_EQ(detector.finding(port.port), nullptr);
}

TEST_F(LossOfFour, is_not_found_if_the_ports_own_queue_drops) {
    for (int tick = 0; tick < 60; ++tick) {
        ports[2].queue_dropped += 15;
        for (std::size_t slot = 0; slot < 4; ++slot)
            for (std::size_t flow = 0; flow < 8; ++flow)
                send(slot * 64 + flow, 100, slot == 2 ? 0.02 : 0);
        step();
        ASSERT_EQ(detector.finding(IfIndex{3}), nullptr) << tick;
    }
}

TEST_F(LossOfFour, is_not_found_for_a_port_that_takes_over_lossy_flows) {
    run(1.5, 8, 8000, {0, 0.05, 0, 0}, IfIndex{2});
    for (std::size_t bucket = 64; bucket < 128; ++bucket)
        owners[bucket] = Slot{3};
    step();
    EXPECT_FALSE(run(10, 8, 8000, {0, 0, 0, 0}));
}

TEST_F(LossOfFour, is_not_found_in_a_short_burst) {
    EXPECT_FALSE(run(10, 8, 8000, {0, 0, 0, 0}));
    EXPECT_FALSE(run(0.7, 8, 8000, {0, 0, 0.1, 0}));
    EXPECT_FALSE(run(60, 8, 8000, {0, 0, 0, 0}));
}

TEST_F(LossOfFour, is_forgotten_if_the_port_is_tried_again) {
    ASSERT_TRUE(run(10, 8, 8000, {0, 0, 0.02, 0}));
    detector.forget(IfIndex{3});
    EXPECT_EQ(detector.finding(IfIndex{3}), nullptr);
    EXPECT_FALSE(run(61, 8, 8000, {0, 0, 0, 0}));
}

TEST_F(LossOfFour, is_forgotten_after_a_while) {
    ASSERT_TRUE(run(10, 8, 8000, {0, 0, 0.02, 0}));
    for (int tick = 0; tick < 260; ++tick)
        step();
    EXPECT_EQ(detector.finding(IfIndex{3}), nullptr);
}

TEST_F(LossOfFour, needs_no_buckets_if_a_ports_errors_rise) {
    const std::array<Slot, bucket_count> none{};
    const auto look = [&] {
        now += LossDetector::tick;
        detector.step(ports, nullptr, none, now);
    };
    look();
    for (auto& port : ports)
        port.errors.rx_packets = port.errors.tx_packets = 10'000;
    ports[0].errors.rx_crc = 9;
    look();
    EXPECT_EQ(detector.finding(IfIndex{1}), nullptr);
    ports[0].errors.rx_crc = 12;
    ports[1].errors.tx = 100;
    ports[2].errors.rx_missed = 100;
    ports[3].carrier_losses = 3;
    look();
    EXPECT_THAT(detector.finding(IfIndex{1})->what, HasSubstr("rx_crc_errors has risen by 12"));
    EXPECT_THAT(detector.finding(IfIndex{2})->what, HasSubstr("tx_errors has risen by 100"));
    EXPECT_THAT(detector.finding(IfIndex{3})->what, HasSubstr("rx_missed_errors has risen by 100"));
    EXPECT_FALSE(detector.finding(IfIndex{3})->helps) << "another port would be as slow";
    EXPECT_THAT(detector.finding(IfIndex{4})->what, HasSubstr("its link was lost 3 times"));
}

TEST_F(LossOfFour, is_not_found_for_a_few_errors_in_many_packets) {
    for (int tick = 0; tick < 1000; ++tick) {
        ports[0].errors.rx_packets += 20'000;
        ports[0].errors.rx_crc += 1;
        ports[1].carrier_losses = static_cast<std::uint64_t>(tick / 200); // once in 50 seconds
        step();
        ASSERT_EQ(detector.finding(IfIndex{1}), nullptr);
        ASSERT_EQ(detector.finding(IfIndex{2}), nullptr);
    }
}

} // namespace
} // namespace teamo
