// SPDX-License-Identifier: LGPL-2.1-or-later
#include "balance/moves.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Moves::Time moves_start{};
constexpr SlotSet both = bit(Slot{1}) | bit(Slot{2});

BucketMove move(std::uint8_t bucket, MoveReason reason = MoveReason::load, double gain = 0.2) {
    return {.bucket = bucket, .from = Slot{1}, .to = Slot{2}, .gain = gain, .reason = reason};
}

class BucketMoves : public testing::Test {
protected:
    std::vector<Moves::Ended> at(Moves::Time now, std::optional<std::uint64_t> packets, bool moved = false,
                                 SlotSet live = both) {
        Moves::Drains drains{};
        drains.fill(3ms);
        return moves_.step(now, live, drains, config_, [&](std::uint8_t /*bucket*/) {
            return Moves::Seen{.moved = moved, .packets = packets};
        });
    }

    BalanceConfig config_{.max_wait = 1000ms, .min_gain = 10};
    Moves moves_;
};

TEST_F(BucketMoves, sends_waiting_bucket_by_old_port) {
    moves_.begin(move(7), moves_start);
    EXPECT_EQ(moves_.leaving()[7], Slot{1});
    EXPECT_EQ(moves_.leaving()[8], Slot{0});
    EXPECT_THAT(at(moves_start + 1ms, 10), IsEmpty());
    EXPECT_TRUE(moves_.waits(7));
}

TEST_F(BucketMoves, recognises_gap_after_drain_time) {
    moves_.begin(move(7), moves_start);
    EXPECT_THAT(at(moves_start + 1ms, 10), IsEmpty());
    EXPECT_THAT(at(moves_start + 3ms, 11), IsEmpty());
    EXPECT_THAT(at(moves_start + 5ms, 11), IsEmpty());
    EXPECT_THAT(at(moves_start + 6ms, 11),
                ElementsAre(Moves::Ended{.move = move(7), .end = MoveEnd::in_gap, .waited = 6ms}));
    EXPECT_TRUE(moves_.empty());
}

TEST_F(BucketMoves, does_not_treat_unreadable_counter_as_gap) {
    moves_.begin(move(7), moves_start);
    for (auto now = moves_start; now < moves_start + 100ms; now += 5ms)
        EXPECT_THAT(at(now, std::nullopt), IsEmpty());
    EXPECT_THAT(at(moves_start + 100ms, 10), IsEmpty());
    EXPECT_THAT(at(moves_start + 104ms, 10), testing::SizeIs(1));
}

TEST_F(BucketMoves, ends_move_done_by_datapath) {
    moves_.begin(move(7), moves_start);
    EXPECT_THAT(at(moves_start + 1ms, 10, /*moved=*/true),
                ElementsAre(Moves::Ended{.move = move(7), .end = MoveEnd::in_gap, .waited = 1ms}));
}

TEST_F(BucketMoves, does_not_wait_for_lost_port) {
    moves_.begin(move(7), moves_start);
    EXPECT_THAT(at(moves_start + 1ms, 10, false, bit(Slot{2})),
                ElementsAre(Moves::Ended{.move = move(7), .end = MoveEnd::forced, .waited = 1ms}));
}

TEST_F(BucketMoves, does_not_count_a_move_to_a_lost_port) {
    moves_.begin(move(7), moves_start);
    EXPECT_THAT(at(moves_start + 1ms, 10, false, bit(Slot{1})), IsEmpty());
    EXPECT_TRUE(moves_.empty());
}

TEST_F(BucketMoves, forces_move_only_for_enough_gain) {
    moves_.begin(move(7, MoveReason::load, 0.2), moves_start);
    moves_.begin(move(8, MoveReason::load, 0.05), moves_start);
    moves_.begin(move(9, MoveReason::by_hand, 0), moves_start);
    moves_.begin(move(10, MoveReason::membership, 0), moves_start);
    std::uint64_t packets = 0;
    for (auto now = moves_start; now < moves_start + 1s; now += 2ms)
        EXPECT_THAT(at(now, ++packets), IsEmpty());
    const auto ended = at(moves_start + 1s, ++packets);
    ASSERT_EQ(ended.size(), 4U);
    EXPECT_EQ(ended[0].end, MoveEnd::forced);
    EXPECT_EQ(ended[1].end, MoveEnd::given_up);
    EXPECT_EQ(ended[2].end, MoveEnd::given_up);
    EXPECT_EQ(ended[3].end, MoveEnd::forced);
}

/// Bucket 7 from port 1 to 2, and bucket 8 the other way.
class BucketSwap : public BucketMoves {
protected:
    void begin(double gain_after_other) {
        auto one = move(7), other = move(8);
        one.swap = {.other = 8, .gain_after_other = gain_after_other};
        other.swap = {.other = 7, .gain_after_other = gain_after_other};
        std::swap(other.from, other.to);
        moves_.begin(one, moves_start);
        moves_.begin(other, moves_start);
    }
    /// Bucket 7 pauses and moves; 8 never pauses.
    std::vector<Moves::Ended> step(Moves::Time now, SlotSet live = both) {
        Moves::Drains drains{};
        drains.fill(3ms);
        return moves_.step(now, live, drains, config_, [&](std::uint8_t bucket) {
            return Moves::Seen{.moved = bucket == 7, .packets = ++packets_};
        });
    }

private:
    std::uint64_t packets_ = 0;
};

TEST_F(BucketSwap, does_not_leave_both_buckets_on_one_port) {
    begin(/*gain_after_other=*/0.2);
    EXPECT_THAT(step(moves_start + 1ms), testing::SizeIs(1));
    const auto ended = step(moves_start + 2ms);
    ASSERT_THAT(ended, testing::SizeIs(1));
    EXPECT_EQ(ended[0].move.bucket, 8);
    EXPECT_EQ(ended[0].end, MoveEnd::forced);
}

TEST_F(BucketSwap, waits_for_a_gap_if_both_on_one_port_do_little_harm) {
    begin(/*gain_after_other=*/0.05);
    EXPECT_THAT(step(moves_start + 1ms), testing::SizeIs(1));
    EXPECT_THAT(step(moves_start + 2ms), IsEmpty());
    EXPECT_THAT(step(moves_start + 1s), ElementsAre(testing::Field(&Moves::Ended::end, MoveEnd::given_up)));
}

TEST_F(BucketSwap, is_over_if_one_bucket_goes_elsewhere) {
    begin(/*gain_after_other=*/0.2);
    moves_.begin({.bucket = 8, .from = Slot{2}, .to = Slot{3}}, moves_start);
    EXPECT_THAT(step(moves_start + 1ms), testing::SizeIs(1));
    EXPECT_THAT(step(moves_start + 2ms), IsEmpty());
}

/// Bucket 8 waits on port 3, while the plan has it on port 2.
TEST_F(BucketSwap, does_not_hurry_a_bucket_that_is_on_another_port) {
    moves_.begin({.bucket = 8, .from = Slot{3}, .to = Slot{2}}, moves_start);
    begin(/*gain_after_other=*/0.2);
    EXPECT_THAT(step(moves_start + 2ms, both | bit(Slot{3})), testing::SizeIs(1));
    EXPECT_THAT(step(moves_start + 3ms, both | bit(Slot{3})), IsEmpty());
}

TEST_F(BucketMoves, keeps_old_port_if_destination_changes) {
    moves_.begin(move(7), moves_start);
    moves_.begin({.bucket = 7, .from = Slot{2}, .to = Slot{3}, .gain = 0, .reason = MoveReason::load},
                 moves_start + 1ms);
    EXPECT_EQ(moves_.leaving()[7], Slot{1});
    EXPECT_EQ(moves_.waiting().at(7).move.to, Slot{3});
}

TEST_F(BucketMoves, cancels_move_back_to_old_port) {
    moves_.begin(move(7), moves_start);
    moves_.begin({.bucket = 7, .from = Slot{2}, .to = Slot{1}, .gain = 0, .reason = MoveReason::load},
                 moves_start + 1ms);
    EXPECT_TRUE(moves_.empty());
}

} // namespace
} // namespace teamo
