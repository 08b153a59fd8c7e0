// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/plan.h"

#include "bench/compare.h"

#include <gmock/gmock.h>

#include <set>

namespace teamo::bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

Options quick_with(unsigned ports) { return {.ports = ports, .datapaths = {"bpf", "team"}}; }

TEST(BenchPlan, counts_ports_up_to_the_given_number) {
    EXPECT_THAT(port_counts(1), ElementsAre(1));
    EXPECT_THAT(port_counts(2), ElementsAre(1, 2));
    EXPECT_THAT(port_counts(6), ElementsAre(1, 2, 4, 6));
    EXPECT_THAT(port_counts(8), ElementsAre(1, 2, 4, 8));
    EXPECT_THAT(port_counts(0), IsEmpty());
}

// The promise is that of the manual page: the default profile takes less than three minutes.
TEST(BenchPlan, of_quick_with_eight_ports_takes_less_than_three_minutes) {
    using namespace std::chrono_literals;
    const auto options = quick_with(8);
    const auto cases = cases_of(options).size();
    const auto around = 400ms; // connections, ramp
    EXPECT_LE(cases * (warm_up + options.rounds * options.round + (options.rounds + 1) * around), 165s);
}

TEST(BenchPlan, of_quick_has_each_case_once_and_the_default_datapath) {
    const auto cases = cases_of(quick_with(4));
    for (const auto& what : cases) {
        EXPECT_EQ(std::ranges::count(cases, what), 1);
        EXPECT_EQ(what.datapath, what.over == Carrier::team ? "bpf" : "");
    }
    const Case both{.datapath = "bpf", .ports = 4, .way = Way::both, .clients = 4};
    EXPECT_THAT(cases, Contains(both));
    for (const unsigned ports : {1, 2, 4}) {
        auto without_tso = both;
        without_tso.tso = false;
        without_tso.ports = ports;
        EXPECT_THAT(cases, Contains(without_tso));
    }
    auto without_team = both;
    without_team.over = Carrier::ports;
    without_team.datapath = "";
    EXPECT_THAT(cases, Contains(without_team));
}

TEST(BenchPlan, of_peers_has_all_that_can_carry) {
    auto options = quick_with(2);
    options.profile = "peers";
    const auto cases = cases_of(options);
    for (const unsigned ports : {1, 2})
        for (const auto& what :
             {Case{.datapath = "bpf"}, Case{.datapath = "team"}, Case{.over = Carrier::ports},
              Case{.over = Carrier::bond}, Case{.over = Carrier::teamd}}) {
            auto wanted = what;
            wanted.ports = ports;
            wanted.clients = 4;
            wanted.way = Way::both;
            EXPECT_THAT(cases, Contains(wanted));
        }
    EXPECT_THAT(cases, SizeIs(30));
}

TEST(BenchPlan, of_binding_compares_workers_where_one_port_arrives) {
    auto options = quick_with(8);
    options.profile = "binding";
    std::set<Binding> bindings;
    for (const auto& what : cases_of(options)) {
        EXPECT_EQ(what.ports, 1U);
        bindings.insert(what.binding);
    }
    EXPECT_THAT(cases_of(options), SizeIs(9));
    EXPECT_THAT(bindings, ElementsAre(Binding::unbound, Binding::follow, Binding::cross));
}

TEST(BenchPlan, measures_only_what_is_named) {
    const auto chosen = only_chosen(cases_of(quick_with(8)), "8 ports, both ways").value();
    EXPECT_THAT(chosen, SizeIs(3)); // with a team, without one, and without TSO
    for (const auto& what : chosen)
        EXPECT_TRUE(what.ports == 8 && what.way == Way::both);
    const auto either = only_chosen(cases_of(quick_with(8)), "8 ports, both ways|files of 6 MB").value();
    EXPECT_THAT(either, SizeIs(4));
    EXPECT_THAT(only_chosen(cases_of(quick_with(8)), "").value(), SizeIs(cases_of(quick_with(8)).size()));
    EXPECT_EQ(only_chosen(cases_of(quick_with(8)), "9 ports").error().text,
              "--only: no case of this profile has \"9 ports\" in its name");
}

TEST(BenchPlan, of_paper_varies_each_axis_of_the_papers) {
    auto options = quick_with(8);
    options.profile = "paper";
    const auto cases = cases_of(options);
    for (const std::uint32_t bytes : {2'048U, 4'096U, 8'192U, 16'384U, 32'768U, 65'536U})
        EXPECT_THAT(cases, Contains(Field(&Case::message, bytes)));
    for (const std::uint32_t bytes : {1'514U, 32'160U, 65'536U, 185'000U})
        EXPECT_THAT(cases, Contains(Field(&Case::gso_max, bytes)));
    for (const auto load : {Load::stream, Load::file, Load::request, Load::http})
        EXPECT_THAT(cases, Contains(Field(&Case::load, load)));
    for (const auto over : {Carrier::team, Carrier::ports, Carrier::bond, Carrier::teamd})
        EXPECT_THAT(cases, Contains(Field(&Case::over, over)));
    for (const auto binding : {Binding::follow, Binding::cross})
        EXPECT_THAT(cases, Contains(Field(&Case::binding, binding)));
    EXPECT_THAT(cases, Contains(Field(&Case::mtu, 9'000U)));
    EXPECT_THAT(cases, Contains(Field(&Case::datapath, "team")));
}

TEST(BenchPlan, sets_sizes_of_streams_alone) {
    auto options = quick_with(8);
    options.profile = "paper";
    for (const auto& what : cases_of(options))
        EXPECT_EQ(what.socket_buffer == 0 && what.message == 0, what.load != Load::stream);
    EXPECT_EQ(case_text(with_load({}, Load::file)), "team, 1 port, transmit, files of 6 MB");
    EXPECT_EQ(setup_text(with_load({}, Load::file)), "team, files of 6 MB");
}

TEST(BenchPlan, alternates_rounds_after_a_warm_up) {
    EXPECT_THAT(order_of_rounds(2, 2), ElementsAre(Round{0, false}, Round{1, false}, Round{0, true},
                                                   Round{1, true}, Round{0, true}, Round{1, true}));
}

Measured measured(Way way, double sent_mbits, double received_mbits, double busy) {
    const Sample sample{.seconds = 1,
                        .sent = sent_mbits * 125e3,
                        .received = received_mbits * 125e3,
                        .cpus = {{0, {.system = busy, .idle = 1 - busy}}},
                        .host = CpuTime{.system = busy, .idle = 1 - busy},
                        .far = CpuTime{.idle = 1}};
    return {.what = {.ports = 2, .way = way}, .rounds = {sample, sample, {}}};
}

TEST(BenchLimit, is_the_link_if_it_is_full_in_each_way_of_the_case) {
    EXPECT_NEAR(payload_rate(1000, 1500), 956.4, 0.1);
    EXPECT_EQ(limit_of(measured(Way::transmit, 1900, 0, 0.99), 2000, true), Limit::shaper);
    EXPECT_EQ(limit_of(measured(Way::transmit, 1900, 0, 0.99), 2000, false), Limit::link);
    EXPECT_EQ(limit_of(measured(Way::receive, 0, 1900, 0), 2000, true), Limit::shaper);
    EXPECT_EQ(limit_of(measured(Way::both, 1900, 1900, 0), 2000, true), Limit::shaper);
    EXPECT_EQ(limit_of(measured(Way::both, 1900, 1500, 0), 2000, true), Limit::unknown);
}

TEST(BenchLimit, is_the_cpu_if_an_end_is_busy) {
    EXPECT_EQ(limit_of(measured(Way::transmit, 1500, 0, 0.95), 2000, true), Limit::cpu);
    EXPECT_EQ(limit_of(measured(Way::transmit, 1500, 0, 0.85), 2000, true), Limit::unknown);
    EXPECT_EQ(limit_of(measured(Way::transmit, 9000, 0, 0.95), 0, false), Limit::cpu);
    auto not_apart = measured(Way::transmit, 1500, 0, 0.95);
    for (auto& round : not_apart.rounds)
        round.host = round.far = std::nullopt;
    EXPECT_EQ(limit_of(not_apart, 2000, true), Limit::cpu);
    EXPECT_EQ(limit_of({}, 2000, true), Limit::unknown);
}

TEST(BenchLimit, is_the_cpu_if_one_of_many_is_full) {
    auto one_full = measured(Way::transmit, 1500, 0, 0.2);
    for (auto& round : one_full.rounds) {
        for (unsigned cpu = 0; cpu < 8; ++cpu)
            round.cpus[cpu] = {.idle = 1};
        round.cpus[3] = {.softirq = 0.99, .idle = 0.01};
    }
    EXPECT_EQ(limit_of(one_full, 2000, true), Limit::cpu);
}

} // namespace
} // namespace teamo::bench
