// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The interrupt CPUs on other kinds of machines: too few CPUs, cards with queues, two teams, isolated CPUs,
// NUMA nodes and sibling threads. Each test needs a guest of its kind, and fails in any other.
#include "kernel/files/files.h"
#include "lab/cards_in_use.h"
#include "lab/guest.h"
#include "lab/irq_files.h"
#include "lab/lab.h"
#include "lab/tests/cpu_files.h"
#include "runtime/shared_files.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/eventually.h"
#include "support/net/net_ns.h"
#include "json/fields.h"
#include "json/parse.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace teamo::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

/// "virtio1-input.3": 3.
std::string queue_of(const IrqLine& vector) { return vector.name.substr(vector.name.find_last_of("-.") + 1); }

/// The CPUs that the vectors of each queue may use.
std::map<std::string, CpuList> queues_of(const std::string& card) {
    std::map<std::string, CpuList> queues;
    for (const auto& vector : vectors_of(card))
        if (!is_link_vector(vector)) {
            auto& cpus = queues[queue_of(vector)];
            cpus = united(std::move(cpus), affinity(vector.irq));
        }
    return queues;
}

/// The CPUs of each card.
using Places = std::map<std::string, CpuList>;

Places places_of(const std::vector<std::string>& cards) {
    Places places;
    for (const auto& card : cards)
        for (const auto& vector : vectors_of(card))
            places[card] = united(std::move(places[card]), affinity(vector.irq));
    return places;
}

/// How many cards each CPU serves.
std::map<unsigned, unsigned> loads_of(const Places& places) {
    std::map<unsigned, unsigned> loads;
    for (const auto& [card, cpus] : places)
        for (const auto cpu : cpus)
            ++loads[cpu];
    return loads;
}

CpuList all_of(const Places& places) {
    CpuList all;
    for (const auto& [card, cpus] : places)
        all = united(std::move(all), cpus);
    return all;
}

/// The counts of the queues' vectors, by number.
using Counts = std::map<unsigned, std::vector<std::uint64_t>>;

bool is_in_place(unsigned irq) { return effective(irq) == affinity(irq); }

Counts counts_of(const std::vector<std::string>& cards) {
    Counts all;
    for (const auto& card : cards)
        for (const auto& vector : vectors_of(card))
            if (!is_link_vector(vector)) all[vector.irq] = counts(vector.irq);
    return all;
}

/// Returns "" if each card had interrupts since then, and their vectors are in place; else what is missing. A
/// vector moves at its next interrupt, so idle vectors do not count.
std::string missing(const std::vector<std::string>& cards, const Counts& then) {
    for (const auto& card : cards) {
        bool some = false;
        for (const auto& [irq, now] : counts_of({card})) {
            const auto before = then.find(irq);
            if (before == then.end() || now == before->second) continue;
            if (!is_in_place(irq))
                return fmt::format("{} of {} comes to CPU {}, not {}", irq, card,
                                   teamo::text_of(effective(irq)), teamo::text_of(affinity(irq)));
            some = true;
        }
        if (!some) return card + " has no interrupt";
    }
    return "";
}

class InterruptShapes : public CardsInUse {
protected:
    void SetUp() override {
        CardsInUse::SetUp();
        for (unsigned card = 0; card < cards_.size(); ++card)
            send_to(first_cpu(card), cards_[card]);
        before_ = all_affinities();
    }

    /// The CPU of a card's interrupts at the start. All on one CPU, or the kernel's own placement might
    /// already be good.
    virtual unsigned first_cpu(unsigned) const { return 0; }

    static void send_to(unsigned cpu, const std::string& card) {
        std::string line = "set -e; ";
        for (const auto& vector : vectors_of(card))
            line += fmt::format("echo {} > /proc/irq/{}/smp_affinity_list; ", cpu, vector.irq);
        in_guest(line);
        ASSERT_TRUE(eventually(card + " is there", [&] {
            return std::ranges::any_of(vectors_of(card), [cpu](const IrqLine& vector) {
                return effective(vector.irq) == CpuList{cpu};
            });
        })) << told_of(card);
    }

    static std::string told_of(const std::string& card) {
        std::string text;
        for (const auto& vector : vectors_of(card))
            text += fmt::format("{} may come to CPU {}, came to {}, by CPU {} times\n", vector.name,
                                teamo::text_of(affinity(vector.irq)), teamo::text_of(effective(vector.irq)),
                                fmt::join(counts(vector.irq), " "));
        return text;
    }

    /// The daemon has reported their CPUs, and every vector of the cards is there.
    static testing::AssertionResult are_placed(const TeamUnderTest& team,
                                               const std::vector<std::string>& cards) {
        const auto placed = [&] {
            const auto places = places_of(cards);
            return places.size() == cards.size() && places == planned_cpus(team);
        };
        if (const auto result = eventually("all are placed", placed, 20s); !result)
            return testing::AssertionFailure() << result.message() << "\n"
                                               << team.teamoctl({"interrupts"}).out;
        fmt::print("{}{}", team.teamoctl({"interrupts"}).out, team.teamoctl({"interrupts", "plan"}).out);
        return testing::AssertionSuccess();
    }

    static testing::AssertionResult all_come(const std::vector<std::string>& cards, const Counts& then) {
        std::string last;
        if (auto came = eventually(
                "they come", [&] { return (last = missing(cards, then)).empty(); }, 20s);
            !came)
            return came << ": " << last;
        return testing::AssertionSuccess();
    }
    static std::string told_of(const std::vector<std::string>& cards) {
        std::string text;
        for (const auto& card : cards)
            text += told_of(card);
        return text;
    }

    /// Interrupts occur on the planned CPUs, and after that nowhere else.
    static void expect_to_arrive(const std::vector<std::string>& cards) {
        auto then = counts_of(cards);
        ASSERT_TRUE(all_come(cards, then)) << told_of(cards);
        // Wait until they are in place: the interrupt that moves a vector still occurs on the old CPU.
        const auto idle = std::erase_if(then, [](const auto& vector) { return !is_in_place(vector.first); });
        for (auto& [irq, by_cpu] : then)
            by_cpu = counts(irq);
        fmt::print("{} vectors of queues are in place, {} wait for their next interrupt\n", then.size(),
                   idle);
        ASSERT_TRUE(all_come(cards, then)) << told_of(cards);
        for (const auto& [irq, before] : then) {
            const auto now = counts(irq);
            for (unsigned cpu = 0; cpu < now.size(); ++cpu)
                if (now[cpu] != before[cpu]) {
                    EXPECT_THAT(affinity(irq), Contains(cpu)) << irq;
                }
        }
    }

    std::map<unsigned, std::string> before_;
};

// ---- too few CPUs ------------------------------------------------------------------------------

/// The number of ports on each CPU in the dry run's plan.
std::map<unsigned, unsigned> planned_loads(const std::string& config) {
    const auto dry_run = run({.argv = {daemon_program(), "--dry-run", "-c", config}});
    std::map<unsigned, unsigned> loads;
    const auto document = json::parse(dry_run.out);
    if (!document) return loads;
    for (const auto& port : json::object(*document, "ports"))
        for (const auto& cpu : json::array(json::child(port.value, "interrupts"), "cpus"))
            ++loads[static_cast<unsigned>(cpu.integer() == nullptr ? 0 : *cpu.integer())];
    return loads;
}

// The unit tests of assign_cpus check the sharing, so this test with real cards is a long one.
// lab: InterruptShapes.shares_four_cpus_* in -k 6.1 -p 8 -c 4, 30 s, long
TEST_F(InterruptShapes, shares_four_cpus_between_eight_cards) {
    ASSERT_EQ(8, cards_.size());
    ASSERT_EQ(4, cpus_in("online").size());
    EXPECT_THAT(planned_loads(config_of(cards_)),
                testing::ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 2), Pair(3, 2)));
    EXPECT_EQ("", changed_since(before_));
    TeamUnderTest team(config_of(cards_));
    far_->flood(team);
    ASSERT_TRUE(are_placed(team, cards_));
    const auto places = places_of(cards_);
    for (const auto& [card, cpus] : places)
        EXPECT_EQ(1, cpus.size()) << card;
    EXPECT_THAT(loads_of(places), testing::ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 2), Pair(3, 2)));
    expect_to_arrive(cards_);

    const std::string why = "8 ports, 4 CPUs: 2 ports share each CPU";
    EXPECT_EQ(why, team.item("interrupts.degraded"));
    EXPECT_THAT(team.teamoctl({"interrupts"}).out, HasSubstr(why));
    EXPECT_THAT(team.log(), HasSubstr("not every port has an interrupt CPU of its own: " + why));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", changed_since(before_));
}

// ---- queues ------------------------------------------------------------------------------------

/// Many incoming flows, so that each queue gets some.
void send_flows_to(const TeamUnderTest&) {
    in_guest("ip addr add 10.9.0.1/24 dev team0");
    Lab::must_peer(
        "bash -c 'for way in 1 2 3 4; do "
        "while :; do true <>/dev/tcp/10.9.0.1/9; sleep 0.02; done </dev/null >/dev/null 2>&1 & done'");
}

/// The daemon does not take its own masks for drift, and repairs a mask that another program changes.
void expect_masks_to_be_kept(const TeamUnderTest& team, const std::string& card) {
    EXPECT_THAT(team.log(), Not(HasSubstr("xps_cpus of")));
    const auto path = fmt::format("/sys/class/net/{}/queues/tx-0/xps_cpus", card);
    const auto ours = read_file(path);
    ASSERT_TRUE(ours);
    in_guest(fmt::format("bash -c 'echo 0 >{}'", path));
    EXPECT_TRUE(becomes(*ours, [&] { return read_file(path).value_or(""); }, 60s));
    EXPECT_THAT(team.log(), HasSubstr("xps_cpus of tx-0 was set to no CPU"));
}

// lab: InterruptShapes.gives_queues_* in -k newest -n igb -p 2 -c 4, 20 s
// lab: InterruptShapes.gives_queues_cpus_* in -k 6.12 -n virtio -p 2 -c 8, 60 s, long
TEST_F(InterruptShapes, gives_queues_cpus_of_their_own) {
    ASSERT_EQ(2, cards_.size());
    const auto online = cpus_in("online").size();
    for (const auto& card : cards_)
        ASSERT_GE(queues_of(card).size(), 4) << card;
    TeamUnderTest team(config_of(cards_));
    far_->flood(team);
    send_flows_to(team);
    ASSERT_TRUE(are_placed(team, cards_));
    for (const auto& [cpu, cards] : loads_of(places_of(cards_)))
        EXPECT_EQ(1, cards) << "CPU " << cpu;
    for (const auto& card : cards_) {
        const auto queues = queues_of(card);
        for (const auto& [queue, cpus] : queues)
            EXPECT_EQ(1, cpus.size()) << card << "'s queue " << queue << " is at " << teamo::text_of(cpus);
        EXPECT_EQ(std::min(queues.size(), online / 2), places_of({card})[card].size()) << card;
    }
    EXPECT_EQ("", team.item("interrupts.degraded"));
    expect_to_arrive(cards_);
    expect_masks_to_be_kept(team, cards_.front());
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", changed_since(before_));
}

/// One plan for both teams: the second one never shares a CPU, although the first one had all. The first card
/// needs more queues than half of the CPUs.
TEST_F(InterruptShapes, gives_queues_of_two_teams_of_a_process_cpus_of_their_own) {
    ASSERT_EQ(2, cards_.size());
    const auto half = cpus_in("online").size() / 2;
    const auto places = [this](unsigned card) { return places_of({cards_[card]})[cards_[card]]; };
    const std::string folder = "/run/test/all";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/team0.conf") << config_of({cards_[0]});
    auto process = Process::start({.argv = daemon_command({"--all", "--config-directory", folder})});
    EXPECT_TRUE(
        eventually("the first team has more than half of the CPUs", [&] { return places(0).size() > half; }));
    std::ofstream(folder + "/team1.conf") << config_of({cards_[1]}, "", "team1");
    process.signal(SIGHUP);
    EXPECT_TRUE(eventually("each team has half of the CPUs", [&] {
        return places(0).size() == half && places(1).size() == half &&
               united(places(0), places(1)).size() == 2 * half;
    }));
    process.signal(SIGTERM);
    EXPECT_EQ(0, process.wait(long_enough));
    EXPECT_THAT(process.err(), Not(HasSubstr("not every port has an interrupt CPU of its own")));
    EXPECT_EQ("", changed_since(before_));
    std::filesystem::remove_all(folder);
}

// ---- two teams ---------------------------------------------------------------------------------

CpuList claimed_by(const std::string& team) {
    CpuList cpus;
    if (const auto text = read_file("/run/teamd-offload/" + team + ".cpus"))
        if (const auto claims = parse_claims(*text))
            for (const auto& port : claims->ports)
                cpus = united(std::move(cpus), port.cpus);
    return cpus;
}

// lab: InterruptShapes.separates_two_teams in -k 6.1 -p 4 -c 4, 6 s
// lab: InterruptShapes.separates_two_teams in -k 6.1 -p 8 -c 8, 6 s, long
TEST_F(InterruptShapes, separates_two_teams) {
    const auto half = Lab::ports() / 2;
    ASSERT_EQ(2 * half, cpus_in("online").size());
    const auto of_first = cards(half), of_second = cards(half, half);
    TeamUnderTest first(config_of(of_first));
    TeamUnderTest second(config_of(of_second, "", "team1"), {}, "team1");
    far_->flood(first);
    far_->flood(second, "team1");
    ASSERT_TRUE(are_placed(first, of_first));
    ASSERT_TRUE(are_placed(second, of_second));
    EXPECT_EQ(2 * half, all_of(places_of(cards_)).size());
    EXPECT_EQ(claimed_by("team0"), all_of(places_of(of_first)));
    EXPECT_EQ(claimed_by("team1"), all_of(places_of(of_second)));
    expect_to_arrive(cards_);
    for (const auto* team : {&first, &second})
        EXPECT_EQ("", team->item("interrupts.degraded"));

    const auto places = places_of(of_second);
    EXPECT_EQ(0, first.stop());
    EXPECT_THAT(claimed_by("team0"), IsEmpty());
    EXPECT_EQ(places, places_of(of_second));
    EXPECT_EQ(0, second.stop());
    EXPECT_EQ("", changed_since(before_));
}

// ---- nodes, sibling threads and isolated CPUs --------------------------------------------------

// lab: InterruptTopology.*-InterruptTopology.uses_siblings_* in -k 6.1 -p 8 -c 8 -m -a isolcpus=1-2, 30 s
// lab: InterruptTopology.uses_siblings_* in -k 6.1 -p 8 -c 8 -m -a isolcpus=1-2, 30 s, long
/// Two nodes of two cores of two threads, four cards at each; two threads of the first node are isolated.
class InterruptTopology : public InterruptShapes {
protected:
    void SetUp() override {
        InterruptShapes::SetUp();
        ASSERT_EQ(8, cards_.size());
        ASSERT_EQ(8, cpus_in("online").size());
        ASSERT_EQ((CpuList{1, 2}), cpus_in("isolated"));
        for (unsigned number = 0; number < 8; ++number) {
            const int node = number < 4 ? 0 : 1;
            ASSERT_EQ(node, node_of(cards_[number]));
            ASSERT_EQ(node, node_of(number));
            ASSERT_EQ(number / 2 * 2, core_of(number));
        }
    }

    /// A CPU of the other node, because the kernel itself uses the card's node.
    unsigned first_cpu(unsigned card) const override { return (card + 4) % 8; }

    /// Each card uses one CPU of its own node that is not isolated.
    static void expect_to_be_near(const Places& places) {
        for (const auto& [card, cpus] : places) {
            EXPECT_EQ(1, cpus.size()) << card;
            for (const auto cpu : cpus)
                EXPECT_EQ(node_of(card), node_of(cpu)) << card << " is on CPU " << cpu;
        }
        EXPECT_THAT(all_of(places), Not(Contains(testing::AnyOf(1, 2))));
    }
};

TEST_F(InterruptTopology, uses_a_core_of_the_node_for_each_card) {
    const std::vector<std::string> four{"eth0", "eth1", "eth4", "eth5"};
    TeamUnderTest team(config_of(four));
    far_->flood(team);
    ASSERT_TRUE(are_placed(team, four));
    const auto places = places_of(four);
    expect_to_be_near(places);
    std::set<unsigned> cores;
    for (const auto cpu : all_of(places))
        cores.insert(core_of(cpu));
    EXPECT_EQ(4, cores.size());
    expect_to_arrive(four);
    EXPECT_EQ("", team.item("interrupts.degraded"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", changed_since(before_));
}

TEST_F(InterruptTopology, uses_siblings_before_sharing) {
    const std::vector<std::string> six{"eth0", "eth1", "eth4", "eth5", "eth6", "eth7"};
    TeamUnderTest team(config_of(six));
    far_->flood(team);
    ASSERT_TRUE(are_placed(team, six));
    expect_to_be_near(places_of(six));
    EXPECT_EQ(6, all_of(places_of(six)).size());
    EXPECT_EQ("", team.item("interrupts.degraded"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", changed_since(before_));
}

TEST_F(InterruptTopology, avoids_isolated_cpus) {
    TeamUnderTest team(config_of(cards_));
    far_->flood(team);
    ASSERT_TRUE(are_placed(team, cards_));
    const auto places = places_of(cards_);
    EXPECT_EQ((CpuList{0, 3, 4, 5, 6, 7}), all_of(places));
    for (const auto& [cpu, cards] : loads_of(places))
        EXPECT_LE(cards, 2) << "CPU " << cpu;
    expect_to_arrive(cards_);
    EXPECT_EQ("8 ports, 6 CPUs: up to 2 ports share a CPU", team.item("interrupts.degraded"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", changed_since(before_));
}

} // namespace
} // namespace teamo::test
