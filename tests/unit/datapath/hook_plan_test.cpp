// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/programs/device_programs.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using What = HookStep::What;

const WantedProgram guard{.duty = Duty::guard, .order = Order::first, .id = ProgramId{1}};
const WantedProgram redirects{.duty = Duty::receive, .order = Order::last, .id = ProgramId{2}};
const WantedProgram sends{.duty = Duty::transmit, .order = Order::first, .id = ProgramId{3}};
const WantedProgram meter{.duty = Duty::meter, .order = Order::first, .id = ProgramId{4}};
const WantedProgram goes_on{.duty = Duty::receive, .order = Order::first, .id = ProgramId{2}};

SeenProgram seen(std::uint32_t id, std::string name = "foreign") { return {ProgramId{id}, std::move(name)}; }

TcFilter filter(std::uint32_t priority, TcVerdict verdict = TcVerdict::ends) {
    return {.priority = priority, .handle = 1, .kind = "u32", .verdict = verdict};
}

/// What the kernel does with a step.
HookView after(HookView view, const HookStep& step, const std::vector<WantedProgram>& wanted) {
    const auto one = std::ranges::find(wanted, step.duty, &WantedProgram::duty);
    const auto name = std::string(name_of(step.duty)).substr(0, 15);
    switch (step.what) {
    case What::attach_program: {
        auto place = std::ranges::find(view.programs, step.next, &SeenProgram::id);
        view.programs.insert(place, {one->id, name});
        break;
    }
    case What::detach_program:
        view.programs.erase(view.programs.begin() + static_cast<std::ptrdiff_t>(step.place));
        break;
    case What::attach_filter: {
        std::erase_if(view.filters, [&](const TcFilter& other) {
            return is_ours(other) && other.priority == step.priority;
        });
        const auto later = std::ranges::find_if(
            view.filters, [&](const TcFilter& other) { return other.priority > step.priority; });
        view.filters.insert(later, {.priority = step.priority,
                                    .handle = our_handle,
                                    .kind = "bpf",
                                    .name = fmt::format("{}:[{}]", name, one->id.value),
                                    .id = one->id.value});
        break;
    }
    case What::detach_filter:
        std::erase_if(view.filters, [&](const TcFilter& other) {
            return is_ours(other) && other.priority == step.priority;
        });
        break;
    }
    return view;
}

/// All steps, at most 20.
HookView settled(HookView view, const std::vector<WantedProgram>& wanted) {
    for (int steps = 0; steps < 20; ++steps) {
        const auto step = next_step(view, wanted, /*may_move=*/true);
        if (!step) return view;
        view = after(std::move(view), *step, wanted);
    }
    ADD_FAILURE() << "it does not settle";
    return view;
}

std::vector<std::uint32_t> ids(const HookView& view) {
    std::vector<std::uint32_t> list;
    for (const auto& program : view.programs)
        list.push_back(program.id.value);
    return list;
}

std::vector<std::uint32_t> priorities(const HookView& view) {
    std::vector<std::uint32_t> list;
    for (const auto& one : view.filters)
        list.push_back(one.priority);
    return list;
}

TEST(HookPlan, puts_what_goes_on_before_others) {
    const HookView view{.by_device = true, .programs = {seen(10), seen(11)}};
    EXPECT_THAT(ids(settled(view, {sends})), ElementsAre(3, 10, 11));
    EXPECT_THAT(ids(settled(view, {sends, meter})), ElementsAre(3, 4, 10, 11));
    EXPECT_THAT(ids(settled(settled(view, {meter}), {sends, meter})), ElementsAre(3, 4, 10, 11));
}

TEST(HookPlan, puts_programs_of_ports_into_filters) {
    const HookView view{.by_device = true, .programs = {seen(10)}, .filters = {filter(10)}};
    const auto now = settled(view, {guard, redirects});
    EXPECT_THAT(ids(now), ElementsAre(10));
    EXPECT_THAT(priorities(now), ElementsAre(2, 10, 50000));
    EXPECT_THAT(programs_before(now, ProgramId{2}, "tcx").size(), 2);
    EXPECT_THAT(programs_before(now, ProgramId{1}, "tcx").size(), 1);
    EXPECT_EQ(attachment_of(now, ProgramId{2}), Attachment::filter);
}

TEST(HookPlan, puts_what_redirects_for_a_moment_after_others) {
    const WantedProgram helps{.duty = Duty::send_by_backup, .order = Order::late, .id = ProgramId{5}};
    const HookView alone{.by_device = true, .programs = {}, .filters = {}};
    auto now = settled(alone, {helps});
    EXPECT_THAT(ids(now), ElementsAre(5));
    // Another one comes: ours becomes a filter behind it, before it leaves the hook.
    now.programs.insert(now.programs.begin(), seen(10));
    EXPECT_EQ(next_step(now, {helps}, true)->what, What::attach_filter);
    now = settled(now, {helps});
    EXPECT_THAT(ids(now), ElementsAre(10));
    EXPECT_THAT(priorities(now), ElementsAre(50000));
    now.programs.clear();
    EXPECT_THAT(ids(settled(now, {helps})), ElementsAre(5));
    const HookView shared{.by_device = true, .programs = {}, .filters = {filter(10)}};
    EXPECT_THAT(priorities(settled(shared, {helps})), ElementsAre(10, 50000));
}

TEST(HookPlan, without_tcx_leaves_the_first_priority_to_others) {
    const HookView view{.by_device = false, .programs = {}, .filters = {filter(1), filter(3)}};
    const auto now = settled(view, {guard, goes_on});
    EXPECT_THAT(priorities(now), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(programs_before(now, ProgramId{2}, "tcx").size(), 2);
    EXPECT_THAT(programs_before(now, ProgramId{1}, "tcx").size(), 1);
}

TEST(HookPlan, takes_the_place_of_an_earlier_daemon_without_a_gap) {
    const HookView view{.by_device = true, .programs = {seen(10), seen(7, "teamo_transmit")}};
    const auto first = next_step(view, {sends}, true);
    EXPECT_EQ(first, (HookStep{.what = What::attach_program, .duty = Duty::transmit, .next = ProgramId{7}}));
    EXPECT_THAT(ids(settled(view, {sends})), ElementsAre(3, 10));
    // Until it has its own, that of the earlier one stays.
    EXPECT_THAT(ids(settled(view, {meter})), ElementsAre(4, 10, 7));
    // From the filter of an earlier version.
    HookView legacy{.by_device = true, .programs = {}, .filters = {}};
    legacy.filters.push_back(
        {.priority = 50000, .handle = our_handle, .kind = "bpf", .name = "teamo_transmit:[7]", .id = 7});
    EXPECT_EQ(next_step(legacy, {sends}, true)->what, What::attach_program);
    EXPECT_EQ(settled(legacy, {sends}).filters.size(), 0U);
}

TEST(HookPlan, moves_a_displaced_program_only_if_it_may) {
    const HookView view{.by_device = true, .programs = {seen(10), seen(3, "teamo_transmit")}};
    EXPECT_TRUE(next_step(view, {sends}, true)->moves);
    EXPECT_THAT(ids(settled(view, {sends})), ElementsAre(3, 10));
    EXPECT_EQ(next_step(view, {sends}, false), std::nullopt);
    EXPECT_THAT(programs_before(view, ProgramId{3}, "tcx"),
                ElementsAre(ForeignProgram{.kind = "tcx", .name = "foreign", .id = 10}));
}

TEST(HookPlan, removes_only_what_is_named) {
    const WantedProgram no_guard{.duty = Duty::guard, .order = {}, .id = {}};
    auto view = settled({.by_device = false, .programs = {}, .filters = {filter(10)}}, {guard, redirects});
    EXPECT_THAT(priorities(settled(view, {no_guard})), ElementsAre(10, 50000));
    EXPECT_THAT(priorities(settled(view, {})), ElementsAre(2, 10, 50000));
}

TEST(HookPlan, removes_programs_of_a_later_version_after_its_own_are_there) {
    HookView view{.by_device = true, .programs = {seen(10), seen(7, "teamo_mirror"), seen(8, "teamo_meter")}};
    view.filters = {filter(10)};
    view.filters.push_back(
        {.priority = 50001, .handle = our_handle, .kind = "bpf", .name = "teamo_mirror_ba:[9]", .id = 9});
    view.filters.push_back({.priority = 50002, .handle = 1, .kind = "bpf", .name = "teamo_mirror:[9]"});
    EXPECT_EQ(next_step(view, {sends}, true)->what, What::attach_program);
    const auto now = settled(view, {sends});
    EXPECT_THAT(ids(now), ElementsAre(3, 10, 8)) << "that of a known duty waits for its own";
    EXPECT_THAT(priorities(now), ElementsAre(10, 50002)) << "a filter with another handle is not ours";
    EXPECT_THAT(ids(settled(view, {})), ElementsAre(10, 8));
}

TEST(HookPlan, has_duties_that_differ_in_the_letters_that_the_kernel_keeps) {
    std::set<std::string_view> names;
    for (const auto name : enum_names<Duty>)
        EXPECT_TRUE(is_name_of_ours(name) && names.insert(name.substr(0, 15)).second) << name;
}

TEST(HookPlan, knows_names_that_the_kernel_has_cut) {
    const HookView view{.by_device = true, .programs = {seen(5, "teamo_avoid_los")}};
    EXPECT_TRUE(has_duty(view, Duty::avoid_lost_link));
    EXPECT_FALSE(has_duty(view, Duty::receive));
    const TcFilter filter{.priority = 2, .handle = our_handle, .kind = "bpf", .name = "teamo_avoid_los:[12]"};
    EXPECT_TRUE(has_duty({.filters = {filter}}, Duty::avoid_lost_link));
    EXPECT_FALSE(is_ours({.priority = 2, .handle = our_handle, .kind = "bpf", .name = "cil_from_netdev"}));
}

TEST(HookPlan, names_filters_that_end_or_take) {
    HookView view{.by_device = false};
    view.filters = {filter(5, TcVerdict::goes_on), filter(6), filter(7, TcVerdict::takes)};
    const auto before = programs_before(settled(view, {redirects}), ProgramId{2}, "tcx");
    ASSERT_EQ(before.size(), 2U);
    EXPECT_FALSE(before[0].takes);
    EXPECT_TRUE(before[1].takes);
}

TEST(Rounds, are_at_once_then_with_growing_pauses) {
    Rounds rounds;
    Clock::time_point now{};
    for (unsigned count = 0; count < Rounds::at_once; ++count)
        EXPECT_TRUE(rounds.begin(now));
    EXPECT_FALSE(rounds.begin(now + std::chrono::milliseconds(900)));
    EXPECT_TRUE(rounds.begin(now + std::chrono::seconds(1)));
    EXPECT_FALSE(rounds.begin(now + std::chrono::seconds(2)));
    for (int day = 0; day < 100; ++day) {
        now += Rounds::longest + std::chrono::seconds(1);
        EXPECT_TRUE(rounds.begin(now)) << "never given up";
    }
    now += Rounds::peace;
    EXPECT_EQ(rounds.count(now), 0U);
}

} // namespace
} // namespace teamo
