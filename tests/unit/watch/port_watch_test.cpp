// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/port_watch.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using namespace std::chrono_literals;
using testing::Optional;

const Clock::time_point start{};

TEST(EthtoolWatch, follows_link_at_once_without_delays) {
    EthtoolState state({}, /*up=*/false);
    state.step(true, start);
    EXPECT_TRUE(state.up());
    state.step(false, start);
    EXPECT_FALSE(state.up());
    EXPECT_EQ(state.down_count(), 1U);
    EXPECT_EQ(state.deadline(), std::nullopt);
}

TEST(EthtoolWatch, goes_up_after_delay_up) {
    EthtoolState state({.delay_up = 100ms, .delay_down = 0ms}, /*up=*/false);
    state.step(true, start);
    EXPECT_FALSE(state.up());
    EXPECT_THAT(state.deadline(), Optional(start + 100ms));
    state.step(true, start + 99ms);
    EXPECT_FALSE(state.up());
    state.step(true, start + 100ms);
    EXPECT_TRUE(state.up());
    EXPECT_EQ(state.deadline(), std::nullopt);
}

TEST(EthtoolWatch, ignores_change_shorter_than_delay) {
    EthtoolState state({.delay_up = 0ms, .delay_down = 100ms}, /*up=*/true);
    state.step(false, start);
    state.step(true, start + 50ms);
    EXPECT_EQ(state.deadline(), std::nullopt);
    state.step(false, start + 60ms);
    EXPECT_THAT(state.deadline(), Optional(start + 160ms)) << "the delay restarts";
    state.step(false, start + 160ms);
    EXPECT_FALSE(state.up());
    EXPECT_EQ(state.down_count(), 1U);
}

TEST(EthtoolWatch, starts_up_if_port_already_carried) {
    EthtoolState state({.delay_up = 10s, .delay_down = 0ms}, /*up=*/true);
    state.step(true, start);
    EXPECT_TRUE(state.up());
}

TEST(PortWatch, combines_watches_by_any_or_all) {
    const std::vector<LinkWatch> watches{EthtoolWatch{}, EthtoolWatch{.delay_up = 1s, .delay_down = 0ms}};
    PortWatch any(watches, LinkWatchPolicy::any, {}), all(watches, LinkWatchPolicy::all, {});
    any.step(true, 0, start);
    all.step(true, 0, start);
    EXPECT_TRUE(any.up());
    EXPECT_FALSE(all.up());
    EXPECT_THAT(all.deadline(), Optional(start + 1s));
    all.step(true, 0, start + 1s);
    EXPECT_TRUE(all.up());
    EXPECT_EQ(all.status().size(), 2U);
}

TEST(PortWatch, delays_a_link_that_was_lost_unseen) {
    const std::vector<LinkWatch> watches{EthtoolWatch{.delay_up = 1s, .delay_down = 0s}};
    PortWatch watch(watches, LinkWatchPolicy::any, {.up = true, .losses = 4});
    watch.step(true, 4, start);
    EXPECT_TRUE(watch.up());
    watch.step(true, 5, start);
    EXPECT_FALSE(watch.up());
    EXPECT_EQ(watch.carrier_losses(), 4U);
    watch.step(true, 5, start + 1s);
    EXPECT_TRUE(watch.up());
    EXPECT_EQ(watch.carrier_losses(), 5U);
}

TEST(PortWatch, delays_a_link_that_was_lost_during_the_delay) {
    const std::vector<LinkWatch> watches{EthtoolWatch{.delay_up = 1s, .delay_down = 0ms}};
    PortWatch watch(watches, LinkWatchPolicy::any, {});
    watch.step(true, 4, start);
    watch.step(true, 5, start + 900ms);
    watch.step(true, 5, start + 1s);
    EXPECT_FALSE(watch.up());
    watch.step(true, 5, start + 1900ms);
    EXPECT_TRUE(watch.up());
}

TEST(PortWatch, ends_the_delay_of_a_link_that_is_there) {
    const std::vector<LinkWatch> watches{EthtoolWatch{.delay_up = 1s, .delay_down = 1s}};
    PortWatch watch(watches, LinkWatchPolicy::any, {});
    watch.end_delay_up();
    EXPECT_FALSE(watch.up()) << "no link";
    watch.step(true, 4, start);
    watch.end_delay_up();
    EXPECT_TRUE(watch.up());
    EXPECT_EQ(watch.carrier_losses(), 4U);
    EXPECT_EQ(watch.deadline(), std::nullopt);
    watch.step(false, 5, start + 1s);
    watch.end_delay_up();
    EXPECT_THAT(watch.deadline(), Optional(start + 2s)) << "delay_down goes on";
    watch.step(true, 5, start + 3s);
    EXPECT_TRUE(watch.up());
}

TEST(PortWatch, ends_no_wait_for_an_answer) {
    PortWatch watch({EthtoolWatch{.delay_up = 1s, .delay_down = 0s}, ArpPingWatch{}}, LinkWatchPolicy::all,
                    {});
    watch.step(true, 4, start);
    watch.end_delay_up();
    EXPECT_TRUE(watch.has_link());
    EXPECT_FALSE(watch.up());
}

TEST(PortWatch, counts_losses_only_while_link_is_there) {
    const std::vector<LinkWatch> watches{EthtoolWatch{.delay_up = 0s, .delay_down = 1s}};
    PortWatch watch(watches, LinkWatchPolicy::any, {.up = true, .losses = 4});
    watch.step(false, 5, start);
    EXPECT_TRUE(watch.up());
    EXPECT_EQ(watch.carrier_losses(), 4U);
    watch.step(true, 5, start);
    EXPECT_EQ(watch.carrier_losses(), 5U);
}

TEST(PortWatch, says_that_the_port_was_lost_also_if_its_link_is_back) {
    PortWatch watch({EthtoolWatch{}}, LinkWatchPolicy::any, {.up = true, .losses = 4});
    watch.step(true, 4, start);
    EXPECT_FALSE(watch.has_lost());
    watch.step(false, 5, start);
    EXPECT_TRUE(watch.has_lost());
    watch.step(true, 5, start);
    EXPECT_FALSE(watch.has_lost());
    watch.step(true, 6, start);
    EXPECT_TRUE(watch.has_lost()) << "lost and back between two steps";
    EXPECT_TRUE(watch.up());
    EXPECT_EQ(watch.status()[0].down_count, 1U);
    PortWatch slow({EthtoolWatch{.delay_up = 0s, .delay_down = 1s}}, LinkWatchPolicy::any,
                   {.up = true, .losses = 4});
    slow.step(true, 4, start);
    slow.step(true, 5, start);
    EXPECT_FALSE(slow.has_lost()) << "shorter than delay_down";
}

TEST(PortWatch, is_up_with_the_first_answer) {
    PortWatch watch({ArpPingWatch{}}, LinkWatchPolicy::any, {});
    watch.step(true, 7, start);
    EXPECT_EQ(watch.take_due(), std::vector<std::size_t>{0});
    watch.note_answer(0);
    watch.step(true, 7, start);
    EXPECT_TRUE(watch.up());
    EXPECT_EQ(watch.carrier_losses(), 7U);
    watch.step(true, 8, start);
    EXPECT_FALSE(watch.up()) << "the link was lost meanwhile: another answer is needed";
    EXPECT_TRUE(watch.has_link());
}

TEST(PortWatch, waits_if_no_watch_is_up_at_once) {
    const EthtoolWatch slow{.delay_up = 1s, .delay_down = 0s}, fast{.delay_up = 0s, .delay_down = 1s};
    EXPECT_FALSE(PortWatch({slow, fast}, LinkWatchPolicy::any, {.up = true}).waits());
    EXPECT_TRUE(PortWatch({slow, slow}, LinkWatchPolicy::any, {.up = true}).waits());
    EXPECT_TRUE(PortWatch({slow, fast}, LinkWatchPolicy::all, {.up = true}).waits());
    EXPECT_FALSE(PortWatch({fast}, LinkWatchPolicy::all, {.up = true}).waits());
}

} // namespace
} // namespace teamo
