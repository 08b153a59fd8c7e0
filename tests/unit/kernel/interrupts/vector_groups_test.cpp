// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Vectors whose names do not show the queue: the queue is inferred from their counts.
#include "kernel/interrupts/vector_groups.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// Two queues, three vectors: 20 is for the first queue, 21 for the second, 22 for link changes.
PortInterrupts nameless() {
    PortInterrupts port;
    port.receive_queues = port.transmit_queues = 2;
    group_vectors(port,
                  {{.irq = 20, .name = "eth0"}, {.irq = 21, .name = "eth0"}, {.irq = 22, .name = "eth0"}}, {},
                  std::vector<std::string>{"eth0"});
    return port;
}

InterruptSample sample(std::uint64_t first, std::uint64_t second, std::uint64_t link,
                       std::vector<std::uint64_t> packets, std::uint64_t sent = 0) {
    return {.vectors = {{20, first}, {21, second}, {22, link}}, .packets = std::move(packets), .sent = sent};
}

TEST(QueueInference, finds_vector_of_only_receiving_queue) {
    const auto before = sample(100, 100, 5, {1000, 1000});
    EXPECT_THAT(infer_queues(before, sample(180, 103, 5, {2000, 1010})), ElementsAre(Pair(20, 0)));
    EXPECT_THAT(infer_queues(before, sample(100, 120, 5, {1000, 1100})), ElementsAre(Pair(21, 1)));
}

TEST(QueueInference, concludes_nothing_if_uncertain) {
    const auto before = sample(100, 100, 5, {1000, 1000});
    EXPECT_THAT(infer_queues(before, sample(180, 180, 5, {2000, 1010})), IsEmpty()) << "two vectors came";
    EXPECT_THAT(infer_queues(before, sample(180, 100, 5, {2000, 1900})), IsEmpty()) << "two queues received";
    EXPECT_THAT(infer_queues(before, sample(104, 100, 5, {2000, 1000})), IsEmpty()) << "too few interrupts";
    EXPECT_THAT(infer_queues(before, sample(180, 100, 5, {1020, 1000})), IsEmpty()) << "too few packets";
    EXPECT_THAT(infer_queues(before, sample(180, 100, 5, {2000, 1000}, 600)), IsEmpty()) << "much was sent";
    EXPECT_THAT(infer_queues(before, before), IsEmpty());
    EXPECT_THAT(infer_queues(before, sample(10, 10, 5, {10, 10})), IsEmpty()) << "the counters restarted";
}

TEST(QueueInference, splits_vectors_once_every_queue_has_one) {
    auto port = nameless();
    ASSERT_EQ(VectorSource::ungrouped, port.source);
    ASSERT_EQ(1, port.queues.size());
    EXPECT_FALSE(split_by_queue(port, {{20, 0}}));
    EXPECT_FALSE(split_by_queue(port, {{20, 0}, {21, 0}}));
    EXPECT_FALSE(split_by_queue(port, {{20, 0}, {21, 7}})) << "there is no such queue";
    EXPECT_FALSE(split_by_queue(port, {{20, 0}, {99, 1}})) << "there is no such vector";
    EXPECT_EQ(VectorSource::ungrouped, port.source);
    auto threaded = port;
    threaded.queues.front().thread = NapiThread{.pid = 7};
    EXPECT_FALSE(split_by_queue(threaded, {{20, 1}, {21, 0}})) << "one thread polls for all";
    EXPECT_TRUE(split_by_queue(port, {{20, 1}, {21, 0}}));
    EXPECT_EQ(VectorSource::counts, port.source);
    ASSERT_EQ(2, port.queues.size());
    EXPECT_EQ(21, port.queues[0].vectors.at(0).irq);
    EXPECT_EQ(20, port.queues[1].vectors.at(0).irq);
    ASSERT_EQ(1, port.others.size());
    EXPECT_EQ(22, port.others[0].irq);
    EXPECT_FALSE(split_by_queue(port, {{20, 0}, {21, 1}})) << "only once";
}

// ---- window by window --------------------------------------------------------------------------

using namespace std::chrono_literals;

class VectorLearning : public testing::Test {
protected:
    void SetUp() override { learner_.apply(port_); }

    /// Runs one window that ends with that sample. Returns the wait before the window.
    std::chrono::seconds see(const InterruptSample& after) {
        auto waited = 0s;
        while (!learner_.wants_sample(port_, now_)) {
            now_ += 1s;
            waited += 1s;
        }
        EXPECT_FALSE(learner_.learn(port_, sample(100, 100, 5, {1000, 1000}), now_));
        EXPECT_FALSE(learner_.wants_sample(port_, now_ + 1s)) << "statistics may be a second old";
        now_ += 2s;
        EXPECT_TRUE(learner_.wants_sample(port_, now_));
        learned_ = learner_.learn(port_, after, now_);
        return waited;
    }
    const InterruptSample by_first_ = sample(180, 100, 5, {2000, 1000}),
                          by_second_ = sample(100, 180, 5, {1000, 2000});
    PortInterrupts port_ = nameless();
    QueueVectorLearner learner_;
    QueueVectorLearner::Time now_{1000s};
    bool learned_ = false;
};

TEST_F(VectorLearning, needs_three_consistent_windows) {
    for (int times = 0; times < 3; ++times) {
        EXPECT_FALSE(learned_);
        see(by_first_);
        EXPECT_FALSE(learned_);
        see(by_second_);
    }
    EXPECT_TRUE(learned_);
    EXPECT_EQ(VectorSource::counts, port_.source);
    EXPECT_FALSE(learner_.wants_sample(port_, now_ + 1h));
    auto again = nameless();
    learner_.apply(again);
    EXPECT_EQ(port_, again);
}

TEST_F(VectorLearning, restarts_after_contradicting_window) {
    see(by_first_);
    see(by_first_);
    see(sample(180, 100, 5, {1000, 2000})); // that vector, the other queue
    for (int times = 0; times < 3; ++times)
        see(by_second_);
    see(by_first_);
    EXPECT_FALSE(learned_);
    see(by_first_);
    see(by_first_);
    EXPECT_TRUE(learned_);
}

TEST_F(VectorLearning, forgets_result_when_port_goes_down) {
    for (int times = 0; times < 3; ++times) {
        see(by_first_);
        see(by_second_);
    }
    ASSERT_TRUE(learned_);
    PortInterrupts down;
    learner_.apply(down);
    auto up = nameless();
    learner_.apply(up);
    EXPECT_EQ(VectorSource::ungrouped, up.source) << "the numbers may be other queues' now";
}

TEST_F(VectorLearning, samples_less_often_without_result) {
    const auto nothing = sample(100, 100, 5, {1000, 1000});
    see(nothing);
    std::vector<std::chrono::seconds> waits;
    for (int times = 0; times < 9; ++times)
        waits.push_back(see(nothing));
    EXPECT_THAT(waits, testing::ElementsAre(5s, 10s, 20s, 40s, 80s, 160s, 300s, 300s, 300s));
    see(by_first_);
    EXPECT_EQ(300s, see(nothing));
    EXPECT_EQ(5s, see(nothing)) << "a conclusion resets the interval";
}

TEST_F(VectorLearning, does_not_sample_if_impossible) {
    auto few = nameless();
    few.receive_queues = 4;
    EXPECT_FALSE(learner_.wants_sample(few, now_)) << "more queues than vectors";
    auto threaded = nameless();
    threaded.queues.front().thread = NapiThread{.pid = 7};
    EXPECT_FALSE(learner_.wants_sample(threaded, now_)) << "one thread polls for all";
    EXPECT_TRUE(learner_.wants_sample(port_, now_));
    learner_.learn(port_, fail(EAGAIN, ""), now_);
    EXPECT_FALSE(learner_.wants_sample(port_, now_ + 1s));
    EXPECT_TRUE(learner_.wants_sample(port_, now_ + 5s));
    learner_.learn(port_, fail(ENOTSUP, ""), now_ + 5s);
    EXPECT_FALSE(learner_.wants_sample(port_, now_ + 24h));
}

} // namespace
} // namespace teamo
