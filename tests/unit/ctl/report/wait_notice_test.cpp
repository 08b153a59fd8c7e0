// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/wait_notice.h"

#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point start{1h};

WaitNotice begun(bool is_terminal, bool is_usual, std::chrono::seconds at_most = 60s) {
    WaitNotice notice("team0: port drain eth2", is_terminal);
    notice.begin({.what = "waits until the port can be unplugged", .at_most = at_most, .is_usual = is_usual},
                 start);
    return notice;
}

TEST(WaitNotice, on_a_terminal_draws_one_line_with_the_time_left) {
    for (const bool is_usual : {true, false}) {
        auto notice = begun(true, is_usual);
        EXPECT_EQ("", notice.due(start + 99ms));
        EXPECT_EQ(start + 100ms, notice.deadline());
        EXPECT_EQ("\r\033[?7lteam0: port drain eth2: waits until the port can be unplugged, 1:00 "
                  "left\033[K\033[?7h",
                  notice.due(start + 100ms));
        EXPECT_EQ("", notice.due(start + 200ms));
        EXPECT_EQ("\r\033[?7lteam0: port drain eth2: waits until the port can be unplugged, 0:59 "
                  "left\033[K\033[?7h",
                  notice.due(start + 1100ms));
        EXPECT_EQ("\r\033[K", notice.end());
        EXPECT_EQ(std::nullopt, notice.deadline());
    }
}

TEST(WaitNotice, shows_how_far_it_is_at_once) {
    auto notice = begun(true, true);
    notice.detail("its traffic moves", start + 10ms);
    EXPECT_EQ("", notice.due(start + 10ms));
    EXPECT_EQ("\r\033[?7lteam0: port drain eth2: its traffic moves, 1:00 left\033[K\033[?7h",
              notice.due(start + 100ms));
    notice.detail("its queue empties", start + 150ms);
    EXPECT_EQ("\r\033[?7lteam0: port drain eth2: its queue empties, 1:00 left\033[K\033[?7h",
              notice.due(start + 150ms));
    notice.detail("its queue empties", start + 160ms);
    EXPECT_EQ("", notice.due(start + 160ms));
}

TEST(WaitNotice, never_says_that_less_than_nothing_is_left) {
    auto notice = begun(true, true, 1s);
    EXPECT_THAT(notice.due(start + 5s), testing::HasSubstr(", 0:00 left"));
}

TEST(WaitNotice, in_a_file_is_one_line_at_the_start) {
    auto notice = begun(false, true);
    EXPECT_EQ("team0: port drain eth2: waits until the port can be unplugged, at most 60 s\n",
              notice.due(start));
    notice.detail("its queue empties", start + 1s);
    EXPECT_EQ(std::nullopt, notice.deadline());
    EXPECT_EQ("", notice.due(start + 30s));
    EXPECT_EQ("", notice.end());
}

TEST(WaitNotice, in_a_file_does_not_mention_a_daemon_that_is_a_little_late) {
    auto notice = begun(false, false);
    EXPECT_EQ("", notice.due(start + 999ms));
    EXPECT_EQ(start + 1s, notice.deadline());
    EXPECT_NE("", notice.due(start + 1s));
}

TEST(WaitNotice, that_was_never_shown_erases_nothing) {
    auto notice = begun(true, true);
    EXPECT_EQ("", notice.end());
    EXPECT_FALSE(notice.waits());
}

} // namespace
} // namespace teamo::ctl
