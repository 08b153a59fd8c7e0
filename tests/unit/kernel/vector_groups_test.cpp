// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Vectors whose names say nothing: what their counts tell.
#include "kernel/vector_groups.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// Two queues, three vectors: 20 of the first, 21 of the second, 22 of the link.
PortInterrupts nameless() {
    PortInterrupts port;
    port.receive_queues = port.transmit_queues = 2;
    group_vectors(port,
                  {{.irq = 20, .name = "eth0"}, {.irq = 21, .name = "eth0"}, {.irq = 22, .name = "eth0"}}, {},
                  std::vector<std::string>{"eth0"});
    return port;
}

InterruptSample sample(std::uint64_t first, std::uint64_t second, std::uint64_t link,
                       std::vector<std::uint64_t> packets) {
    return {.vectors = {{20, first}, {21, second}, {22, link}}, .packets = std::move(packets)};
}

TEST(Counts, tell_the_vector_of_the_queue_that_alone_takes_in_packets) {
    const auto before = sample(100, 100, 5, {1000, 1000});
    EXPECT_THAT(learn_groups(before, sample(180, 103, 5, {2000, 1010})), ElementsAre(Pair(20, 0)));
    EXPECT_THAT(learn_groups(before, sample(100, 120, 5, {1000, 1100})), ElementsAre(Pair(21, 1)));
}

TEST(Counts, tell_nothing_of_what_is_not_certain) {
    const auto before = sample(100, 100, 5, {1000, 1000});
    EXPECT_THAT(learn_groups(before, sample(180, 180, 5, {2000, 1010})), IsEmpty()) << "two vectors came";
    EXPECT_THAT(learn_groups(before, sample(180, 100, 5, {2000, 1900})), IsEmpty()) << "two queues took in";
    EXPECT_THAT(learn_groups(before, sample(104, 100, 5, {2000, 1000})), IsEmpty()) << "hardly any came";
    EXPECT_THAT(learn_groups(before, sample(180, 100, 5, {1020, 1000})), IsEmpty()) << "hardly any packets";
    EXPECT_THAT(learn_groups(before, before), IsEmpty());
    EXPECT_THAT(learn_groups(before, sample(10, 10, 5, {10, 10})), IsEmpty()) << "the counters began anew";
}

TEST(Counts, divide_the_vectors_once_each_queue_has_one) {
    auto port = nameless();
    ASSERT_EQ(VectorSource::together, port.source);
    ASSERT_EQ(1, port.queues.size());
    EXPECT_FALSE(divide(port, {{20, 0}}));
    EXPECT_FALSE(divide(port, {{20, 0}, {21, 0}}));
    EXPECT_FALSE(divide(port, {{20, 0}, {21, 7}})) << "there is no such queue";
    EXPECT_FALSE(divide(port, {{20, 0}, {99, 1}})) << "nor vector";
    EXPECT_EQ(VectorSource::together, port.source);
    EXPECT_TRUE(divide(port, {{20, 1}, {21, 0}}));
    EXPECT_EQ(VectorSource::counts, port.source);
    ASSERT_EQ(2, port.queues.size());
    EXPECT_EQ(21, port.queues[0].vectors.at(0).irq);
    EXPECT_EQ(20, port.queues[1].vectors.at(0).irq);
    ASSERT_EQ(1, port.others.size());
    EXPECT_EQ(22, port.others[0].irq);
    EXPECT_FALSE(divide(port, {{20, 0}, {21, 1}})) << "only once";
}

} // namespace
} // namespace teamo
