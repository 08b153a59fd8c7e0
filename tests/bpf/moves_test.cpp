// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A moving bucket keeps its old slot until its traffic has paused.
#include "addresses.h"
#include "programs.h"
#include "support/eventually.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

std::uint64_t now() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch()).count());
}

class MovingBucket : public testing::Test {
protected:
    MovingBucket() {
        programs_.prefer([](std::uint32_t) { return teamo_bucket{{3 << TEAMO_LEAVING_SHIFT | 5, 3, 8}}; });
        programs_.set_last_sent(now());
    }

    std::uint32_t slot() { return programs_.transmit(some_packet()).slot; }

    Programs programs_;
};

TEST_F(MovingBucket, keeps_old_slot_without_pause) {
    programs_.set_drain(3, never);
    for (int count = 0; count < 10; ++count)
        EXPECT_EQ(slot(), 3U);
}

TEST_F(MovingBucket, uses_new_slot_after_pause) {
    programs_.set_drain(3, 1'000'000);
    programs_.set_last_sent(now() - 2'000'000);
    EXPECT_EQ(slot(), 5U);
    programs_.set_drain(3, never); // the move is over: the drain time no longer counts
    EXPECT_EQ(slot(), 5U);
}

TEST_F(MovingBucket, measures_pause_from_last_packet) {
    programs_.set_drain(3, 20'000'000'000);
    programs_.set_last_sent(now() - 10'000'000'000);
    EXPECT_EQ(slot(), 3U);
    programs_.set_drain(3, 5'000'000'000); // counted from before the first packet, the pause is longer
    EXPECT_EQ(slot(), 3U);
}

TEST_F(MovingBucket, leaves_lost_slot_at_once) {
    programs_.set_drain(3, never);
    programs_.live.tx = all_slots & ~slot_set({3});
    EXPECT_EQ(slot(), 5U);
    programs_.live.tx = all_slots;
    EXPECT_EQ(slot(), 5U); // and does not return with the slot
}

TEST_F(MovingBucket, is_settled_only_by_own_packets) {
    programs_.set_drain(3, 1'000'000);
    const auto one = some_packet(1), other = some_packet(2);
    programs_.team.hash_fields = TEAMO_HASH_TCP;
    ASSERT_NE(programs_.bucket_of(one, TEAMO_HASH_TCP), programs_.bucket_of(other, TEAMO_HASH_TCP));
    programs_.prefer([](std::uint32_t) { return teamo_bucket{{3 << TEAMO_LEAVING_SHIFT | 5, 3, 8}}; });
    programs_.set_last_sent(now() - 2'000'000);
    EXPECT_EQ(programs_.transmit(one).slot, 5U);
    programs_.set_drain(3, never);
    EXPECT_EQ(programs_.transmit(one).slot, 5U);
    EXPECT_EQ(programs_.transmit(other).slot, 3U);
}

TEST_F(MovingBucket, counts_packets_bytes_and_gso_bytes) {
    programs_.set_drain(3, at_once);
    const auto bucket = programs_.bucket_of(some_packet(), TEAMO_HASH_TCP);
    const auto before = programs_.bucket_counters_of(bucket);
    programs_.team.hash_fields = TEAMO_HASH_TCP;
    programs_.transmit(some_packet(), 5);
    const auto after = programs_.bucket_counters_of(bucket);
    EXPECT_EQ(after.packets - before.packets, 5U);
    EXPECT_EQ(after.bytes - before.bytes, 5 * some_packet().size());
    EXPECT_EQ(after.gso_bytes, before.gso_bytes);
    programs_.gso_size = 40; // a GSO packet
    programs_.transmit(some_packet());
    EXPECT_EQ(programs_.bucket_counters_of(bucket).gso_bytes - after.gso_bytes, some_packet().size());
}

} // namespace
} // namespace teamo::test
