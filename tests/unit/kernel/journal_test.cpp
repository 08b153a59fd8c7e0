// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/journal.h"

#include <gmock/gmock.h>

#include <random>

namespace teamo {
namespace {

Journal sample() {
    Journal journal;
    journal.network_namespace = 4026531840;
    journal.team = IfIndex{12};
    journal.inner = IfIndex{11};
    journal.active = IfIndex{5};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        journal.homes[bucket] = Slot{static_cast<std::uint8_t>(1 + bucket % 2)};
    journal.ports = {{.index = IfIndex{3},
                      .slot = Slot{1},
                      .name = "eth1",
                      .address = {{2, 0, 0, 0, 0, 1}},
                      .mtu = 1500,
                      .flags = 4098,
                      .disable_ipv6 = false,
                      .made_clsact = true},
                     {.index = IfIndex{5},
                      .slot = Slot{2},
                      .name = "eth1.100",
                      .address = {{2, 0, 0, 0, 0, 2}},
                      .mtu = 9000,
                      .flags = 4099,
                      .disable_ipv6 = std::nullopt,
                      .made_clsact = false}};
    journal.removed_by_hand = {"eth7"};
    return journal;
}

TEST(Journal, says_after_reading_what_was_written) {
    const auto read = parse_journal(text_of(sample()));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, sample());
    const auto empty = parse_journal(text_of(Journal{}));
    ASSERT_TRUE(empty);
    EXPECT_EQ(*empty, Journal{});
}

TEST(Journal, of_another_version_is_refused) {
    auto text = text_of(sample());
    text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
    EXPECT_FALSE(parse_journal(text));
}

TEST(Journal, that_was_damaged_gives_a_reason_or_a_value_and_never_a_crash) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto whole = text_of(sample());
    for (int round = 0; round < 5000; ++round) {
        auto text = whole;
        for (unsigned damage = 1 + random() % 4; damage > 0; --damage)
            text[random() % text.size()] = static_cast<char>(random());
        text.resize(text.size() - random() % 8);
        if (const auto read = parse_journal(text); !read) {
            ASSERT_FALSE(read.error().text.empty());
        }
    }
}

} // namespace
} // namespace teamo
