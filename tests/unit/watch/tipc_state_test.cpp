// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/watch_states.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::Optional;

const Clock::time_point origin{};

TEST(TipcState, follows_the_links_of_its_bearer) {
    TipcState state(false);
    state.step(true, origin);
    EXPECT_FALSE(state.up());
    state.note(true);
    state.step(true, origin + 1s);
    EXPECT_TRUE(state.up());
    state.note(false);
    state.step(true, origin + 2s);
    EXPECT_FALSE(state.up());
    EXPECT_EQ(state.down_count(), 1U);
}

TEST(TipcState, goes_down_with_the_link) {
    TipcState state(true);
    state.step(true, origin);
    EXPECT_TRUE(state.up()) << "an adopted port stays up until TIPC has reported";
    state.step(false, origin + 1s);
    EXPECT_FALSE(state.up());
}

TEST(TipcState, is_trusted_from_the_next_link_on_if_tipc_had_no_link) {
    TipcState state(false, Trust::next_link);
    state.note_role({.passes = false, .sends = true}, origin);
    state.step(true, origin);
    EXPECT_FALSE(state.up());
    state.step(false, origin + 1s);
    state.step(true, origin + 2s);
    EXPECT_TRUE(state.up());
}

TEST(TipcState, is_tried_again_if_lacp_has_left_the_port) {
    TipcState state(false, Trust::yes);
    state.note_role({.passes = false, .sends = true}, origin);
    state.step(true, origin);
    EXPECT_TRUE(state.up());
    state.note_role({.passes = true, .sends = true}, origin + 1s);
    state.step(true, origin + 3s);
    EXPECT_TRUE(state.up()) << "TIPC needs a moment";
    state.step(true, origin + 4s);
    EXPECT_FALSE(state.up());
    state.note_role({.passes = false, .sends = true}, origin + 4s);
    EXPECT_THAT(state.deadline(), Optional(origin + 14s));
    state.step(true, origin + 14s);
    EXPECT_TRUE(state.up());
}

} // namespace
} // namespace teamo
