// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/nearest.h"

#include <gmock/gmock.h>

#include <string>

namespace teamo {
namespace {

constexpr std::string_view known[] = {"device", "link_watch", "link_watch_policy", "ports", "runner"};

TEST(Nearest, finds_the_word_with_the_fewest_slips) {
    EXPECT_EQ(nearest("linkwatch", known), "link_watch");   // one is missing
    EXPECT_EQ(nearest("link__watch", known), "link_watch"); // one too many
    EXPECT_EQ(nearest("devise", known), "device");          // another letter
    EXPECT_EQ(nearest("runenr", known), "runner");          // two changed places
    EXPECT_EQ(nearest("link_watch_polici", known), "link_watch_policy");
}

TEST(Nearest, is_empty_where_nothing_is_near) {
    for (const auto* word : {"", "zzzzzz", "xdp", "watchdog"})
        EXPECT_EQ(nearest(word, known), "") << word;
}

TEST(Nearest, is_empty_for_what_is_longer_than_any_word) {
    EXPECT_EQ(nearest(std::string(65, 'p'), known), "");
    EXPECT_EQ(nearest(std::string(1 << 20, 'p'), known), "");
}

TEST(Nearest, is_empty_where_nothing_is_known) { EXPECT_EQ(nearest("ports", {}), ""); }

} // namespace
} // namespace teamo
