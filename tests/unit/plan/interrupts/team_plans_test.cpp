// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interrupt_cases.h"
#include "plan/interrupts/team_plans.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CpuList all_cpus(const CpuTopology& topology) { return topology.eligible_for_interrupts({}); }

/// Teams of one process, each of which plans its part and applies it.
class Process {
public:
    explicit Process(unsigned cpus) : topology_(flat(cpus)) {}

    void add(const std::string& team, std::vector<PlannedPort> ports, CpuList allowed = {}) {
        wishes_[team].ports = std::move(ports);
        allowed_[team] = std::move(allowed);
        look(team);
    }
    /// Only the teams that plan after it have seen it.
    void take_offline(unsigned cpu) { topology_.cpus.at(cpu).online = false; }
    TeamPlans::Part plan(const std::string& team, const std::vector<CpuClaim>& claims = {}) {
        look(team);
        plans_.put(team, wishes_.at(team));
        auto part = plans_.part_of(team, topology_, allowed_.at(team), claims);
        wishes_[team].ports = after(part.plan, wishes_[team].ports);
        for (auto& port : wishes_[team].ports)
            port.is_new = false;
        look(team);
        plans_.put(team, wishes_.at(team));
        return part;
    }
    /// As the teams do when the plan of one moves another; how many plans it took.
    unsigned settle(const std::string& first) {
        std::set<std::string> due{first};
        unsigned count = 0;
        for (; !due.empty() && count < 100; ++count) {
            const auto team = *due.begin();
            due.erase(due.begin());
            due.merge(plan(team).others);
        }
        return count;
    }
    void remove(const std::string& team) {
        plans_.remove(team);
        wishes_.erase(team);
    }
    /// How many ports use each CPU that is in use.
    std::map<unsigned, unsigned> users() const {
        std::map<unsigned, unsigned> users;
        for (const auto& [team, wish] : wishes_)
            for (const auto& port : wish.ports)
                for (const auto cpu : cpu_list_of(port.now))
                    ++users[cpu];
        return users;
    }
    const CpuTopology& topology() const { return topology_; }

private:
    void look(const std::string& team) {
        auto& wish = wishes_.at(team);
        wish.eligible = topology_.eligible_for_interrupts(allowed_.at(team));
        wish.claims.clear();
        for (const auto& port : wish.ports)
            std::ranges::move(claims_of(team, port.name, cpu_list_of(port.now), port.load, port.standby),
                              std::back_inserter(wish.claims));
    }

    CpuTopology topology_;
    std::map<std::string, TeamPlans::Team> wishes_;
    std::map<std::string, CpuList> allowed_;
    TeamPlans plans_;
};

unsigned most_ports_of_a_cpu(const std::map<unsigned, unsigned>& users) {
    unsigned most = 0;
    for (const auto& [cpu, count] : users)
        most = std::max(most, count);
    return most;
}

TEST(TeamPlans, takes_from_a_team_what_the_next_one_needs) {
    Process process(8);
    process.add("team0", ports(2, "eth", 4));
    EXPECT_THAT(process.plan("team0").others, IsEmpty());
    EXPECT_EQ(8U, process.users().size());
    process.add("team1", ports(2, "eno", 4));
    const auto second = process.plan("team1");
    EXPECT_THAT(second.others, ElementsAre("team0"));
    EXPECT_THAT(second.plan.degraded, IsEmpty()) << "what the other one gives up is free";
    EXPECT_THAT(process.plan("team0").others, IsEmpty());
    EXPECT_EQ(1U, most_ports_of_a_cpu(process.users()));
    EXPECT_EQ(8U, process.users().size());
}

TEST(TeamPlans, moves_nobody_without_need) {
    Process process(8);
    process.add("team0", ports(2));
    process.add("team1", ports(3, "eno"));
    const auto first = firsts(process.plan("team0").plan);
    EXPECT_THAT(process.plan("team1").others, IsEmpty());
    EXPECT_EQ(first, firsts(process.plan("team0").plan));
}

TEST(TeamPlans, names_the_ports_of_the_other_team) {
    Process process(2);
    process.add("team0", ports(2));
    process.plan("team0");
    process.add("team1", ports(1, "eno"));
    const auto second = process.plan("team1").plan;
    EXPECT_THAT(second.ports[0].shares_with, ElementsAre(testing::StartsWith("team0 eth")));
    EXPECT_EQ("eno0", second.ports[0].name);
    EXPECT_EQ("1 port and 2 of other teams, 2 CPUs: up to 2 ports share a CPU", second.degraded);
}

TEST(TeamPlans, leaves_a_team_with_cpus_of_its_own_where_it_is) {
    Process process(4);
    process.add("team0", ports(2, "eth", 2), {2, 3});
    process.plan("team0");
    process.add("team1", ports(2, "eno"));
    const auto second = process.plan("team1");
    EXPECT_THAT(second.others, IsEmpty());
    EXPECT_THAT(firsts(second.plan), ElementsAre(1, 0));
    EXPECT_THAT(second.plan.degraded, IsEmpty());
}

TEST(TeamPlans, has_no_cpus_where_none_is_allowed) {
    Process process(4);
    process.add("team0", ports(2), {9});
    EXPECT_THAT(process.plan("team0").plan.degraded, testing::HasSubstr("none of 9 is online"));
}

TEST(TeamPlans, avoids_where_interrupts_of_another_team_really_arrive) {
    TeamPlans plans;
    const auto topology = flat(4);
    auto first = ports(1);
    first[0].now = {1};
    plans.put(
        "team0",
        {.ports = first, .eligible = all_cpus(topology), .claims = {{.owner = "team0 eth0", .cpu = 2}}});
    plans.put("team1", {.ports = ports(1, "eno"), .eligible = all_cpus(topology)});
    EXPECT_THAT(firsts(plans.part_of("team1", topology, {}, {}).plan), ElementsAre(3));
}

/// In the plan of another one it is at the one CPU, and not also at the planned one.
TEST(TeamPlans, counts_a_contested_port_of_a_team_with_other_cpus_where_it_is) {
    TeamPlans plans;
    const auto topology = flat(4);
    auto first = ports(1), second = ports(1, "eno");
    first[0].now = {3};
    second[0].now = {2};
    plans.put("team0",
              {.ports = first, .eligible = {1, 2, 3}, .claims = {{.owner = "team0 eth0", .cpu = 2}}});
    plans.put("team1", {.ports = second, .eligible = {2, 3}});
    EXPECT_THAT(firsts(plans.part_of("team1", topology, {2, 3}, {}).plan), ElementsAre(3));
}

/// The other one has not looked yet: it is told, and both take their parts of one plan.
TEST(TeamPlans, share_no_cpu_when_one_goes_offline) {
    Process process(4);
    process.add("team0", ports(1));
    process.plan("team0");
    process.add("team1", ports(1, "eno", 3));
    process.settle("team1");
    const auto own = firsts(process.plan("team0").plan).at(0);
    EXPECT_EQ(4U, process.users().size());
    process.take_offline(own);
    const auto part = process.plan("team0");
    EXPECT_THAT(part.plan.degraded, IsEmpty());
    EXPECT_THAT(part.others, ElementsAre("team1"));
    EXPECT_THAT(process.plan("team1").others, IsEmpty()) << "the first one has its part of the same plan";
    EXPECT_EQ(1U, most_ports_of_a_cpu(process.users()));
    EXPECT_EQ(3U, process.users().size());
}

TEST(TeamPlans, lets_a_team_that_comes_move_and_not_the_one_that_is_there) {
    for (const std::string name : {"team9", "a"}) { // sorted after and before the other one
        Process process(4);
        auto first = ports(1);
        first[0].now = {3};
        process.add("team0", first);
        process.plan("team0");
        auto second = ports(1, "eno");
        second[0].now = {3};
        second[0].is_new = true;
        process.add(name, second);
        const auto part = process.plan(name);
        EXPECT_THAT(part.others, IsEmpty()) << name;
        EXPECT_TRUE(part.plan.ports[0].moves);
        EXPECT_THAT(part.plan.ports[0].cpus, ElementsAre(1));
    }
}

/// Each sees where the other one is, and not where it was before its last plan.
TEST(TeamPlans, come_to_rest_with_lists_that_overlap) {
    Process process(4);
    auto first = ports(1), second = ports(1, "eno");
    first[0].now = second[0].now = {1};
    process.add("team0", first, {1, 2});
    process.add("team1", second, {1, 2, 3});
    process.plan("team0");
    process.plan("team1");
    for (int round = 0; round < 10; ++round) {
        EXPECT_FALSE(process.plan("team0").plan.ports[0].moves) << round;
        EXPECT_FALSE(process.plan("team1").plan.ports[0].moves) << round;
    }
    EXPECT_EQ(1U, most_ports_of_a_cpu(process.users()));
}

/// Teams come one after the other; each time few plans are needed until nobody has to move.
TEST(TeamPlans, settle_with_any_teams) {
    std::mt19937 generator(7);
    const auto random = [&generator](unsigned below) { return static_cast<unsigned>(generator() % below); };
    for (unsigned round = 0; round < 100; ++round) {
        Process process(2 + random(31));
        std::vector<std::string> teams;
        const auto count = 2 + random(5);
        for (unsigned number = 0; number < count; ++number) {
            teams.push_back("team" + std::to_string(number));
            process.add(teams.back(), ports(1 + random(4), teams.back() + "p", 1 + random(8)));
            EXPECT_LE(process.settle(teams.back()), 2 * teams.size()) << round;
        }
        for (const auto& team : teams)
            EXPECT_THAT(process.plan(team).others, IsEmpty()) << round;
        process.remove(teams[0]);
        EXPECT_LE(process.settle(teams[1]), 2 * teams.size()) << round;
        std::size_t ports_in_all = 0;
        for (const auto& [cpu, users] : process.users())
            ports_in_all += users;
        if (most_ports_of_a_cpu(process.users()) > 1) {
            EXPECT_GT(ports_in_all, process.topology().cpus.size()) << round;
        }
    }
}

} // namespace
} // namespace teamo
