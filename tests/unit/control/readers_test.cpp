// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/readers.h"

#include <gmock/gmock.h>

namespace teamo::control {
namespace {

using namespace std::chrono_literals;
using Place = Readers::Place;

constexpr uid_t alice = 1000, bob = 1001;
const Clock::time_point start{1h};

TEST(CpuBudget, may_be_spent_at_once_and_comes_back) {
    CpuBudget budget({.at_once = 100ms, .percent = 10});
    EXPECT_LE(budget.ready(), start);
    budget.spend(100ms, start);
    EXPECT_EQ(start, budget.ready()) << "nothing is left, nothing is owed";
    budget.spend(1ms, start);
    EXPECT_EQ(start + 10ms, budget.ready());
    EXPECT_FALSE(budget.is_full(start + 1009ms));
    EXPECT_TRUE(budget.is_full(start + 1010ms));
}

TEST(CpuBudget, saves_no_more_than_at_once) {
    CpuBudget budget({.at_once = 100ms, .percent = 10});
    budget.spend(100ms, start);
    const auto later = start + 1h;
    budget.spend(150ms, later);
    EXPECT_EQ(later + 500ms, budget.ready());
}

TEST(CpuBudget, is_not_spent_by_what_comes_back_meanwhile) {
    CpuBudget budget({.at_once = 100ms, .percent = 10});
    for (auto now = start; now < start + 1min; now += 10ms) {
        EXPECT_LE(budget.ready(), now);
        budget.spend(1ms, now);
    }
}

TEST(Readers, share_places_that_leave_some_to_root) {
    static_assert(Readers::max_connections + 16 <= max_clients);
    Readers readers;
    for (std::size_t count = 0; count < Readers::max_of_user; ++count)
        EXPECT_EQ(Place::given, readers.enter(alice, start));
    EXPECT_EQ(Place::user_has_too_many, readers.enter(alice, start));
    EXPECT_EQ(Place::given, readers.enter(bob, start));
    readers.leave(alice, start);
    EXPECT_EQ(Place::given, readers.enter(alice, start));
}

TEST(Readers, are_limited_together) {
    Readers readers;
    for (uid_t user = 0; user < Readers::max_connections; ++user)
        EXPECT_EQ(Place::given, readers.enter(alice + user, start));
    EXPECT_EQ(Place::too_many, readers.enter(1, start));
    readers.leave(alice, start);
    EXPECT_EQ(Place::given, readers.enter(1, start));
}

TEST(Readers, are_slowed_one_by_one) {
    Readers readers;
    readers.enter(alice, start);
    readers.enter(bob, start);
    readers.spend(alice, Readers::limits_of_user.at_once + 1ms, start);
    EXPECT_EQ(start + 20ms, readers.ready(alice));
    EXPECT_LE(readers.ready(bob), start);
}

TEST(Readers, keep_what_they_owe_when_they_connect_again) {
    Readers readers;
    readers.enter(alice, start);
    readers.spend(alice, 300ms, start);
    readers.leave(alice, start);
    readers.enter(bob, start); // forgets who owes nothing
    readers.enter(alice, start);
    EXPECT_EQ(start + 1s, readers.ready(alice));
}

TEST(Readers, are_slowed_together) {
    Readers readers;
    for (uid_t user = 0; user < 10; ++user) {
        readers.enter(alice + user, start);
        readers.spend(alice + user, 60ms, start);
    }
    EXPECT_EQ(start + 500ms, readers.ready(alice));
    EXPECT_EQ(start + 500ms, readers.ready(1)) << "also who comes now";
}

} // namespace
} // namespace teamo::control
