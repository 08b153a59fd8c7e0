// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lldp/lldpdu.h"

#include <gtest/gtest.h>

namespace teamo::lldp {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point start{1h};

Lldpdu from(const std::string& chassis, const std::string& port = "1", std::size_t group = 0) {
    return {.group = group,
            .chassis = {.subtype = 7, .bytes = chassis},
            .port = {.subtype = 5, .bytes = port},
            .ttl = 120s,
            .system_name = "switch-" + chassis};
}

TEST(Neighbours, are_known_until_their_ttl_has_passed) {
    Neighbours neighbours;
    EXPECT_FALSE(neighbours.nearest(start).is_known());
    neighbours.note(from("a", "7"), 0, start);
    EXPECT_EQ(neighbours.nearest(start + 119s),
              (SwitchPort{.source = SwitchSource::lldp, .id = "a", .name = "switch-a", .port = "7"}));
    EXPECT_FALSE(neighbours.nearest(start + 120s).is_known());
    neighbours.note(from("a", "7"), 0, start + 30s);
    EXPECT_TRUE(neighbours.nearest(start + 149s).is_known());
}

TEST(Neighbours, are_forgotten_when_they_say_goodbye) {
    Neighbours neighbours;
    neighbours.note(from("a"), 0, start);
    auto goodbye = from("a");
    goodbye.ttl = 0s;
    neighbours.note(goodbye, 0, start + 1s);
    EXPECT_FALSE(neighbours.nearest(start + 1s).is_known());
}

TEST(Neighbours, that_are_several_are_not_known) {
    Neighbours neighbours;
    neighbours.note(from("a"), 0, start);
    neighbours.note(from("a", "2"), 0, start);
    EXPECT_EQ(neighbours.nearest(start).id, "a") << "one device with two ports";
    neighbours.note(from("b"), 0, start);
    EXPECT_FALSE(neighbours.nearest(start).is_known());
    neighbours.note(from("a"), 0, start + 60s);
    EXPECT_EQ(neighbours.nearest(start + 130s).id, "a") << "the other is silent";
}

TEST(Neighbours, are_taken_from_the_nearest_group) {
    Neighbours neighbours;
    neighbours.note(from("far", "1", 2), 0, start);
    EXPECT_EQ(neighbours.nearest(start).id, "far");
    neighbours.note(from("near", "1", 0), 0, start);
    EXPECT_EQ(neighbours.nearest(start).id, "near");
}

TEST(Neighbours, of_a_cable_that_was_moved_count_alone) {
    Neighbours neighbours;
    neighbours.note(from("a"), 0, start);
    EXPECT_EQ(neighbours.nearest(start + 5s).id, "a") << "what the lost port was connected to";
    neighbours.note(from("b"), 1, start + 10s);
    EXPECT_EQ(neighbours.nearest(start + 10s).id, "b");
}

TEST(Neighbours, beyond_the_bound_are_ignored) {
    Neighbours neighbours;
    for (std::size_t number = 0; number < Neighbours::most; ++number)
        neighbours.note(from("a", std::to_string(number)), 0, start);
    neighbours.note(from("b"), 0, start + 1s);
    EXPECT_EQ(neighbours.nearest(start + 1s).id, "a");
}

} // namespace
} // namespace teamo::lldp
