// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every card of a team gets and keeps an interrupt CPU of its own.
//
// lab: InterruptCpus.* in -k 6.1 -p 4 -c 4, 15 s
// lab: InterruptCpus.* in -k 6.1 -p 8 -c 8, 20 s, long
#include "base/cpu_list.h"
#include "lab/cards_in_use.h"
#include "lab/irq_files.h"
#include "support/daemon/nobody.h"
#include "support/daemon/team_under_test.h"
#include "support/eventually.h"
#include "support/net/net_ns.h"

#include <gmock/gmock.h>

#include <set>

namespace teamo::test {
namespace {

/// The first vector that is not on the CPU that the daemon reports, or "". Without the vector for link
/// changes, which rarely occurs and so rarely moves.
std::string misplaced(const std::map<std::string, CpuList>& plan) {
    for (const auto& [card, cpus] : plan)
        for (const auto& vector : vectors_of(card)) {
            const auto where = is_link_vector(vector) ? affinity(vector.irq) : effective(vector.irq);
            if (where.size() != 1 || !std::ranges::includes(cpus, where))
                return fmt::format("{} ({}) comes to CPU {}, not {}", vector.irq, vector.name,
                                   teamo::text_of(where), teamo::text_of(cpus));
        }
    return "";
}

class InterruptCpus : public CardsInUse {
protected:
    /// Each card has CPUs, no CPU has two cards, and all vectors are on these CPUs.
    std::string wrong(const TeamUnderTest& team) const {
        const auto given = planned_cpus(team);
        std::set<unsigned> all;
        std::size_t count = 0;
        if (given.size() != cards_.size()) return "not all are ports";
        for (const auto& [card, cpus] : given) {
            if (cpus.empty()) return card + " has no CPU";
            if (vectors_of(card).empty()) return card + " has no vectors";
            all.insert(cpus.begin(), cpus.end());
            count += cpus.size();
        }
        if (all.size() != count) return "two cards share a CPU";
        return misplaced(given);
    }

    /// Expects this within two seconds after a change (eight in the lab, where emulation is slow), and prints
    /// the time.
    testing::AssertionResult is_repaired(const TeamUnderTest& team, std::string_view after) {
        const auto start = SteadyClock::now();
        std::string last;
        while (!(last = wrong(team)).empty() && since(start) < give_up)
            std::this_thread::sleep_for(20ms);
        const auto took = since(start);
        fmt::print("{}: repaired after {} ms\n", after, took.count());
        if (last.empty() && took <= patient(soon)) return testing::AssertionSuccess();
        return testing::AssertionFailure() << after << ": after " << took.count() << " ms " << last << "\n"
                                           << team.teamoctl({"interrupts"}).out << team.log();
    }

    static constexpr auto soon = 2s, give_up = 30s;
};

TEST_F(InterruptCpus, keeps_one_for_each_port) {
    const auto host = NetNs::current();
    const auto before = all_affinities();
    std::vector<unsigned> of_first;
    for (const auto& vector : vectors_of("eth0"))
        of_first.push_back(vector.irq);
    const auto locks = lock_as_unprivileged_user(); // must not block the daemon
    TeamUnderTest team(config_of(cards_));
    far_->flood(team);
    ASSERT_TRUE(eventually(
        "all are placed", [&] { return wrong(team).empty(); }, 20s))
        << wrong(team) << team.teamoctl({"interrupts"}).out << team.log();
    fmt::print("{}{}", team.teamoctl({"interrupts"}).out, team.teamoctl({"interrupts", "plan"}).out);

    // Traffic arrives there, and nowhere else.
    for (const auto& card : cards_) {
        const auto cpus = planned_cpus(team).at(card);
        for (const auto& vector : vectors_of(card)) {
            if (is_link_vector(vector)) continue; // it rarely occurs
            const auto then = counts(vector.irq);
            ASSERT_TRUE(eventually("the interrupt occurs", [&] { return counts(vector.irq) != then; }))
                << vector.name;
            const auto now = counts(vector.irq);
            for (unsigned cpu = 0; cpu < now.size(); ++cpu)
                if (now[cpu] != then[cpu]) {
                    EXPECT_THAT(cpus, testing::Contains(cpu)) << vector.name;
                }
        }
    }

    must(host, "ip link set eth1 down; ip link set eth1 up");
    EXPECT_TRUE(is_repaired(team, "down and up"));
    for (const auto& vector : vectors_of("eth0"))
        must(host, fmt::format("echo 0-1 > /proc/irq/{}/smp_affinity_list", vector.irq));
    EXPECT_TRUE(is_repaired(team, "moved by another program"));
    const auto address = pci_address("eth0");
    must(host, fmt::format("cd /sys/bus/pci/drivers/{1}; echo {0} > unbind; echo {0} > bind", address,
                           driver("eth0")));
    ASSERT_TRUE(
        eventually("eth0 is a port again", [&] { return team.item("ports.eth0.ifinfo.ifname") == "eth0"; }));
    EXPECT_TRUE(is_repaired(team, "unbound and bound"));
    const auto victim = planned_cpus(team).at("eth1").front();
    const auto other = victim == 0 ? planned_cpus(team).at("eth0").front() : victim; // CPU 0 stays
    must(host, fmt::format("echo 0 > /sys/devices/system/cpu/cpu{}/online", other));
    ASSERT_TRUE(eventually("the ports do not use the CPU", [&] {
        for (const auto& [card, cpus] : planned_cpus(team))
            if (std::ranges::find(cpus, other) != cpus.end()) return false;
        return true;
    }));
    must(host, fmt::format("echo 1 > /sys/devices/system/cpu/cpu{}/online", other));
    EXPECT_TRUE(is_repaired(team, "a CPU went and came"));

    fmt::print("{}", team.teamoctl({"interrupts"}).out);
    EXPECT_EQ(0, team.stop());
    // Without eth0's: it has new vectors since it was bound again.
    auto expected = before;
    for (const auto irq : of_first)
        expected.erase(irq);
    EXPECT_EQ(expected, all_affinities());
}

TEST_F(InterruptCpus, restores_after_a_kill_and_a_restart) {
    const auto before = all_affinities();
    TeamUnderTest team(config_of(cards_));
    far_->flood(team);
    ASSERT_TRUE(eventually("all are placed", [&] { return wrong(team).empty(); }, 20s)) << wrong(team);
    const auto given = planned_cpus(team);
    team.kill();
    EXPECT_EQ("", misplaced(given)); // the vectors stay in place
    team.start();
    ASSERT_TRUE(eventually("all are placed", [&] { return wrong(team).empty(); }, 20s)) << wrong(team);
    EXPECT_EQ(given, planned_cpus(team));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, all_affinities());
}

TEST_F(InterruptCpus, changes_nothing_with_policy_off) {
    const auto before = all_affinities();
    TeamUnderTest team(config_of(cards_, R"("interrupts": {"policy": "off"}, )"));
    far_->flood(team);
    EXPECT_TRUE(eventually("the daemon knows where it would place each card", [&] {
        const auto plan = planned_cpus(team, {"interrupts", "plan"});
        return plan.size() == cards_.size() &&
               std::ranges::none_of(plan, [](const auto& one) { return one.second.empty(); });
    }));
    EXPECT_TRUE(stays("nothing changes", [&] { return before == all_affinities(); }, patient(2s)));
    fmt::print("{}", team.teamoctl({"interrupts", "plan"}).out);
    EXPECT_EQ(0, team.teamoctl({"interrupts", "apply"}).status);
    ASSERT_TRUE(eventually("all are placed", [&] { return wrong(team).empty(); }, 20s)) << wrong(team);
    EXPECT_EQ(0, team.teamoctl({"interrupts", "restore"}).status);
    EXPECT_EQ(before, all_affinities());
    EXPECT_EQ(0, team.teamoctl({"interrupts", "apply"}).status);
    ASSERT_TRUE(eventually("all are placed again", [&] { return wrong(team).empty(); }, 20s)) << wrong(team);
    team.kill();
    team.start();
    EXPECT_TRUE(eventually("the next daemon restores them", [&] { return before == all_affinities(); }));
    EXPECT_EQ(0, team.stop());
}

} // namespace
} // namespace teamo::test
