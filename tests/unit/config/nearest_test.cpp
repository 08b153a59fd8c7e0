// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/steps.h"

#include <gmock/gmock.h>

#include <string>

namespace teamo::config {
namespace {

constexpr std::string_view known[] = {"device", "link_watch", "link_watch_policy", "ports", "runner"};

TEST(NearestWord, has_fewest_typing_errors) {
    EXPECT_EQ(nearest("linkwatch", known), "link_watch");   // one is missing
    EXPECT_EQ(nearest("link__watch", known), "link_watch"); // one too many
    EXPECT_EQ(nearest("devise", known), "device");          // another letter
    EXPECT_EQ(nearest("runenr", known), "runner");          // two changed places
    EXPECT_EQ(nearest("link_watch_polici", known), "link_watch_policy");
}

TEST(NearestWord, is_empty_if_none_is_near) {
    for (const auto* word : {"", "zzzzzz", "xdp", "watchdog"})
        EXPECT_EQ(nearest(word, known), "") << word;
}

TEST(NearestWord, is_empty_for_overlong_text) {
    EXPECT_EQ(nearest(std::string(65, 'p'), known), "");
    EXPECT_EQ(nearest(std::string(1 << 20, 'p'), known), "");
}

TEST(NearestWord, is_empty_without_known_words) { EXPECT_EQ(nearest("ports", {}), ""); }

} // namespace
} // namespace teamo::config
