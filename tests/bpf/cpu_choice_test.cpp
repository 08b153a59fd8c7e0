// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The hash "cpu": sends by the port of the sending CPU, but never reorders packets in flight.
#include "hash_cases.h"
#include "programs.h"
#include "support/traffic/on_cpu.h"

#include <gmock/gmock.h>

#include <set>

namespace teamo::test {
namespace {

using namespace hash_cases;

constexpr std::uint64_t milliseconds_each = 1'000'000;

Bytes packet_of(std::uint16_t flow) { return start().ipv4(ip()).tcp(flow, 2222).payload(100).bytes(); }

/// The port of this CPU has slot 3; the hash selects slot 5. `go_to` gives this CPU another port, as if the
/// sender had moved to another CPU.
class CpuHash : public testing::Test {
protected:
    CpuHash() {
        programs_.team.hash_fields = TEAMO_HASH_CPU | TEAMO_HASH_TCP;
        programs_.prefer([](std::uint32_t) { return teamo_bucket{{5, 6, 7, 8}}; });
        go_to(3);
        set_drains(never);
    }

    void go_to(std::uint8_t slot) { programs_.set_cpu_slot(cpu_, slot); }
    void set_drains(std::uint64_t nanoseconds) {
        for (std::uint32_t slot = 1; slot < TEAMO_SLOTS; ++slot)
            programs_.set_drain(slot, nanoseconds);
    }
    std::uint32_t slot(std::uint16_t flow = 1) { return programs_.transmit(packet_of(flow)).slot; }

    std::vector<unsigned> cpus_ = usable_cpus();
    unsigned cpu_ = cpus_.front();
    OnCpu here_{cpu_};
    Programs programs_;
};

TEST_F(CpuHash, uses_port_of_sending_cpu) {
    for (std::uint16_t flow = 1; flow <= 20; ++flow)
        EXPECT_EQ(slot(flow), 3U);
    if (cpus_.size() < 2) GTEST_SKIP() << "one CPU";
    programs_.set_cpu_slot(cpus_[1], 4);
    const OnCpu there(cpus_[1]);
    for (std::uint16_t flow = 21; flow <= 40; ++flow)
        EXPECT_EQ(slot(flow), 4U);
}

TEST_F(CpuHash, keeps_flow_on_port_while_it_sends) {
    EXPECT_EQ(slot(1), 3U);
    go_to(7);
    for (int count = 0; count < 10; ++count)
        EXPECT_EQ(slot(1), 3U);
    EXPECT_EQ(slot(2), 7U) << "a flow that has not sent before";
    go_to(3);
    EXPECT_EQ(slot(2), 7U);
}

TEST_F(CpuHash, moves_flow_after_pause) {
    set_drains(5 * milliseconds_each);
    EXPECT_EQ(slot(), 3U);
    go_to(7);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(slot(), 7U);
    set_drains(never);
    go_to(3);
    EXPECT_EQ(slot(), 7U) << "and has its packets in flight there now";
}

TEST_F(CpuHash, measures_pause_from_last_packet) {
    set_drains(8'000 * milliseconds_each);
    EXPECT_EQ(slot(), 3U);
    go_to(7);
    std::this_thread::sleep_for(2s); // after an eighth of the drain time a packet's time is written
    EXPECT_EQ(slot(), 3U);
    set_drains(1'500 * milliseconds_each); // counted from the first packet, the pause is longer
    EXPECT_EQ(slot(), 3U);
}

TEST_F(CpuHash, waits_for_drain_time_of_old_port) {
    set_drains(at_once);
    programs_.set_drain(3, never);
    EXPECT_EQ(slot(1), 3U);
    go_to(7);
    EXPECT_EQ(slot(1), 3U);
    EXPECT_EQ(slot(2), 7U);
    go_to(3);
    EXPECT_EQ(slot(2), 3U) << "slot 7 is empty at once";
}

TEST_F(CpuHash, moves_flow_off_lost_port_at_once) {
    EXPECT_EQ(slot(), 3U);
    go_to(7);
    programs_.live.tx = all_slots & ~slot_set({3});
    EXPECT_EQ(slot(), 7U);
    programs_.live.tx = all_slots;
    go_to(3);
    EXPECT_EQ(slot(), 7U);
}

TEST_F(CpuHash, remembers_flow_sent_by_only_live_port) {
    programs_.live.tx = slot_set({6});
    EXPECT_EQ(slot(), 6U);
    programs_.live.tx = all_slots;
    EXPECT_EQ(slot(), 6U);
}

TEST_F(CpuHash, uses_hash_if_port_of_cpu_is_not_live) {
    programs_.live.tx = all_slots & ~slot_set({3});
    EXPECT_EQ(slot(1), 5U);
    go_to(0);
    programs_.live.tx = all_slots;
    EXPECT_EQ(slot(2), 5U) << "a CPU without a port";
}

TEST_F(CpuHash, hashes_whole_flow_without_other_fields) {
    programs_.team.hash_fields = TEAMO_HASH_CPU;
    programs_.prefer(
        [](std::uint32_t bucket) { return teamo_bucket{{static_cast<std::uint8_t>(bucket % 8 + 1)}}; });
    go_to(0);
    std::set<std::uint32_t> met;
    for (std::uint16_t source = 1; source <= 64; ++source) {
        auto flow = v4(tcp);
        flow.src_port = source;
        EXPECT_EQ(slot(source), teamo_flow_bucket(&flow, everything) % 8 + 1);
        met.insert(slot(source));
    }
    EXPECT_EQ(met.size(), 8U);
}

TEST_F(CpuHash, counts_drop_without_live_port) {
    programs_.live.tx = 0;
    const auto verdict = programs_.transmit(packet_of(1));
    EXPECT_EQ(verdict.action, dropped);
    EXPECT_EQ(verdict.slot, 0U);
}

TEST_F(CpuHash, counts_in_bucket_of_cpu_number) {
    const auto bucket = cpu_ % TEAMO_BUCKETS;
    const auto before = programs_.bucket_counters_of(bucket);
    programs_.transmit(packet_of(1), 5);
    EXPECT_EQ(programs_.bucket_counters_of(bucket).packets - before.packets, 5U);
}

} // namespace
} // namespace teamo::test
