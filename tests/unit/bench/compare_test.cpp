// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/compare.h"

#include "unit/bench/sample.h"

#include <gmock/gmock.h>

namespace teamo::bench {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

constexpr double exactly = 1e-9;

Sample round_of(double megabytes, double busy) {
    return {.seconds = 1, .sent = megabytes * 1e6, .cpus = {{0, {.system = busy, .idle = 1 - busy}}}};
}

std::vector<Comparison> about(Subject subject, const Results& results) {
    auto all = comparisons(results);
    std::erase_if(all, [&](const Comparison& one) { return one.about != subject; });
    return all;
}

TEST(BenchComparisons, need_both_cases) {
    Results results{.cases = {{.what = {.ports = 2}, .rounds = {round_of(200, 0.5)}}}};
    EXPECT_THAT(comparisons(results), IsEmpty());
    results.cases.push_back({.what = {.ports = 2, .tso = false}, .skipped = "no"});
    EXPECT_THAT(comparisons(results), IsEmpty());
    results.cases[1].rounds = {round_of(200, 0.8)};
    const auto found = comparisons(results);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(Subject::tso_demand, found[0].about);
    EXPECT_THAT(found[0].ratio.median, DoubleNear(0.625, exactly));
    EXPECT_EQ("-37.5 %", ratio_text(found[0]));
    EXPECT_EQ(Subject::tso_throughput, found[1].about);
    EXPECT_THAT(papers_ratio(found[0].about, found[0].what), Optional(DoubleNear(0.53, exactly)));
}

TEST(BenchComparisons, take_the_ports_alone_as_single_ports_if_measured) {
    Results results{.cases = {{.what = {.datapath = "bpf", .ports = 4}, .rounds = {round_of(396, 0.5)}},
                              {.what = {.datapath = "bpf", .ports = 1}, .rounds = {round_of(99, 0.1)}}}};
    EXPECT_THAT(about(Subject::single_sum, results).at(0).ratio.median, DoubleNear(1, exactly));
    results.cases.push_back({.what = {.over = Carrier::ports, .ports = 1}, .rounds = {round_of(100, 0.1)}});
    const auto found = about(Subject::single_sum, results);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].ratio.median, DoubleNear(0.99, exactly));
    EXPECT_EQ(Carrier::ports, found[0].against.over);
    EXPECT_THAT(papers_ratio(found[0].about, found[0].what), Optional(DoubleNear(1, exactly)));
}

TEST(BenchComparisons, pair_rounds_and_name_the_side_that_varies) {
    // The machine slowed down in the second round, for both: the ratio holds. The third differs on one side.
    Results results{
        .cases = {{.what = {.ports = 1}, .rounds = {round_of(100, 0.2), round_of(100, 0.4)}},
                  {.what = {.ports = 1, .tso = false}, .rounds = {round_of(100, 0.4), round_of(100, 0.8)}}}};
    EXPECT_EQ("", about(Subject::tso_demand, results).at(0).why);
    results.cases[0].rounds.push_back(round_of(100, 0.2));
    results.cases[1].rounds.push_back(round_of(100, 0.9));
    const auto found = about(Subject::tso_demand, results).at(0);
    EXPECT_FALSE(agrees(found.ratio));
    EXPECT_EQ(3, found.ratio.rounds);
    EXPECT_THAT(found.why, HasSubstr("service demand of team, 1 port, transmit"));
}

TEST(BenchComparisons, cover_ports_teams_and_bindings) {
    const auto results = sample_results();
    for (const auto subject :
         {Subject::single_sum, Subject::demand_by_ports, Subject::tso_demand, Subject::tso_throughput,
          Subject::bare_throughput, Subject::bare_demand, Subject::bound_throughput, Subject::bound_demand})
        EXPECT_THAT(about(subject, results), Not(IsEmpty())) << title_of(subject);
    const auto bare = about(Subject::bare_demand, results).at(0);
    EXPECT_THAT(bare.ratio.median, DoubleNear(1 / 0.95, 0.001));
    EXPECT_TRUE(bare.against.datapath.empty());
}

TEST(BenchComparisons, of_two_runs_name_what_moved) {
    const auto first = sample_results();
    EXPECT_THAT(agreement_of(first, first).differences, IsEmpty());
    auto second = first;
    for (auto& measured : second.cases)
        if (!measured.what.tso && measured.what.ports == 4 && measured.what.over == Carrier::team)
            for (auto& round : measured.rounds)
                for (auto& [number, time] : round.cpus)
                    time.system *= 1.5;
    const auto found = agreement_of(first, second).differences;
    ASSERT_THAT(found, Not(IsEmpty()));
    for (const auto& one : found) {
        EXPECT_THAT(one.why, HasSubstr("4 ports")) << one.why;
        EXPECT_THAT(one.why, Not(HasSubstr("the machine itself"))) << one.why;
    }
}

/// Sets the speed of the machine beside all rounds; none: an earlier version had measured them.
Results at_speed(Results results, std::optional<double> speed, std::optional<double> last = std::nullopt) {
    for (auto& measured : results.cases)
        for (auto& round : measured.rounds)
            round.speed = last && &round == &measured.rounds.back() ? last : speed;
    return results;
}

TEST(BenchComparisons, of_two_runs_say_that_the_machine_was_slower) {
    const auto first = at_speed(sample_results(), 100);
    auto second = at_speed(first, 80);
    for (auto& measured : second.cases)
        if (measured.what.ports == 4)
            for (auto& round : measured.rounds)
                round.sent /= 2;
    const auto found = agreement_of(first, second).differences;
    ASSERT_THAT(found, Not(IsEmpty()));
    for (const auto& one : found)
        EXPECT_THAT(one.why, HasSubstr("the machine itself was 20 % slower then"));
    for (const auto& one : agreement_of(at_speed(first, std::nullopt), second).differences)
        EXPECT_THAT(one.why, Not(HasSubstr("the machine itself")));
}

TEST(BenchComparisons, of_rounds_say_that_the_machine_was_slower) {
    const auto whys = [](const Results& results) {
        std::string all;
        for (const auto& one : comparisons(results))
            all += one.why;
        return all;
    };
    EXPECT_THAT(whys(at_speed(sample_results(), 100)), Not(HasSubstr("the machine itself")));
    auto uneven = sample_results();
    for (auto& measured : uneven.cases)
        if (measured.what.ports == 4) measured.rounds.back().sent /= 2;
    EXPECT_THAT(whys(at_speed(uneven, 100)), Not(HasSubstr("the machine itself")));
    EXPECT_THAT(whys(at_speed(uneven, 100, 70)),
                HasSubstr("the speed of the machine itself differed by 30 %"));
}

TEST(BenchComparisons, the_usual_case_is_that_of_our_team) {
    const auto usual = usual_case(sample_results());
    EXPECT_EQ((Case{.datapath = "bpf"}), usual);
}

TEST(BenchComparisons, the_usual_case_has_tso_off_if_all_have) {
    auto results = sample_results();
    std::erase_if(results.cases, [](const Measured& one) { return one.what.tso; });
    EXPECT_EQ((Case{.datapath = "bpf", .tso = false}), usual_case(results));
    EXPECT_TRUE(usual_case({}).tso);
}

} // namespace
} // namespace teamo::bench
