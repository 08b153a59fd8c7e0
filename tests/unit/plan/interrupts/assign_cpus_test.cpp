// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/assign_cpus.h"

#include "interrupt_cases.h"

#include <gmock/gmock.h>

#include <array>
#include <optional>

namespace teamo {
namespace {

using testing::ElementsAre;

/// One cost per rank, compared in order. Written from the description in assign_cpus.h, not from the code.
using Ranks = std::array<long, 8>;

struct Weigher {
    const Assignment& asked;

    static long of_pairs(std::vector<unsigned> weights) {
        long sum = 0;
        for (std::size_t one = 0; one < weights.size(); ++one)
            for (std::size_t other = 0; other < one; ++other)
                sum += std::min(weights[one], weights[other]);
        return sum;
    }

    Ranks operator()(const std::vector<CpuList>& given) const {
        std::map<unsigned, std::vector<unsigned>> users, before; // weights by CPU
        for (const auto& taken : asked.taken)
            before[taken.cpu].push_back(taken.weight);
        users = before;
        Ranks ranks{};
        for (std::size_t index = 0; index < given.size(); ++index)
            for (const auto cpu : given[index]) {
                users[cpu].push_back(asked.takers[index].weight);
                add_place(ranks, asked.takers[index], *asked.topology->find(cpu));
            }
        ranks[0] = shares(users) - shares(before);
        ranks[2] = siblings(users);
        return ranks;
    }

    static long shares(const std::map<unsigned, std::vector<unsigned>>& users) {
        long sum = 0;
        for (const auto& [cpu, weights] : users)
            sum += of_pairs(weights);
        return sum;
    }

    long siblings(const std::map<unsigned, std::vector<unsigned>>& users) const {
        long sum = 0;
        for (const auto& one : asked.topology->cpus)
            for (const auto& other : asked.topology->cpus)
                if (one.number < other.number && one.core == other.core && users.contains(one.number) &&
                    users.contains(other.number))
                    ++sum;
        return sum;
    }

    void add_place(Ranks& ranks, const CpuRequest& taker, const Cpu& cpu) const {
        if (taker.node >= 0)
            ranks[1] += asked.topology->distances[static_cast<unsigned>(taker.node)][cpu.node];
        ranks[3] += 1024 - cpu.capacity;
        ranks[4] += std::ranges::find(taker.now, cpu.number) == taker.now.end();
        if (taker.cache && *taker.cache != cpu.cache)
            ranks[5] += asked.topology->find(*taker.cache)->node == cpu.node ? 1 : 2;
        ranks[6] += cpu.number == 0;
        ranks[7] += cpu.number;
    }
};

/// Tries every assignment.
class Exhaustive {
public:
    explicit Exhaustive(const Assignment& asked) : asked_(asked), weigh_{asked}, given_(asked.takers.size()) {
        choose(0, 0);
    }
    Ranks best() const { return best_.value(); }

private:
    void choose(std::size_t taker, std::size_t from) {
        if (taker == given_.size()) {
            const auto ranks = weigh_(given_);
            if (!best_ || ranks < *best_) best_ = ranks;
            return;
        }
        if (given_[taker].size() == asked_.takers[taker].count) {
            choose(taker + 1, 0);
            return;
        }
        const auto& own = asked_.takers[taker].own;
        for (auto index = from; index < asked_.eligible.size(); ++index) {
            const auto cpu = asked_.eligible[index];
            if (std::ranges::find(own, cpu) != own.end()) continue;
            given_[taker].push_back(cpu);
            choose(taker, index + 1);
            given_[taker].pop_back();
        }
    }

    const Assignment& asked_;
    Weigher weigh_;
    std::vector<CpuList> given_;
    std::optional<Ranks> best_;
};

Assignment random_assignment(Random& random, const CpuTopology& topology) {
    const auto cpus = static_cast<unsigned>(topology.cpus.size());
    Assignment asked{&topology, random_cpus(random, cpus, 0.85), {}, {}};
    if (asked.eligible.empty()) asked.eligible = {random.below(cpus)};
    std::set<unsigned> free(asked.eligible.begin(), asked.eligible.end());
    for (auto claims = random.chance(0.5) ? random.below(4) : 0; claims > 0; --claims) {
        asked.taken.push_back({.cpu = random.below(cpus), .weight = 1 + random.below(4)});
        free.erase(asked.taken.back().cpu);
    }
    const auto nodes = static_cast<unsigned>(topology.distances.size());
    for (auto count = 1 + random.below(4); count > 0; --count)
        if (!asked.takers.empty() && random.chance(0.3))
            asked.takers.push_back(asked.takers.back()); // equal ports are common
        else
            asked.takers.push_back({.node = static_cast<int>(random.below(nodes + 1)) - 1,
                                    .weight = 1 + random.below(4),
                                    .now = random.chance(0.5) ? random_cpus(random, cpus, 0.3) : CpuList{}});
    for (auto left = static_cast<unsigned>(free.size()); left > asked.takers.size(); --left) {
        auto& taker = asked.takers[random.below(static_cast<unsigned>(asked.takers.size()))];
        if (taker.count == 3 || !random.chance(0.6)) continue;
        ++taker.count;
        taker.cache = topology.cpus[random.below(cpus)].cache;
        if (!asked.taken.empty() && random.chance(0.3)) taker.own = {asked.taken[0].cpu};
    }
    return asked;
}

std::string text_of(const Ranks& ranks) {
    std::string text;
    for (const auto rank : ranks)
        text += std::to_string(rank) + ' ';
    return text;
}

TEST(CpuAssignment, costs_no_more_than_exhaustive_search) {
    const auto seed = seed_of_test();
    unsigned with_shares = 0, with_several = 0;
    for (unsigned round = 0; round < 2000; ++round) {
        Random random(seed + round);
        const auto topology = random_topology(random, 1 + random.below(6));
        const auto asked = random_assignment(random, topology);
        const auto given = assign_cpus(asked);
        for (std::size_t index = 0; index < given.size(); ++index) {
            ASSERT_EQ(given[index].size(), asked.takers[index].count) << "TEAMO_SEED=" << seed + round;
            with_several += given[index].size() > 1;
        }
        const auto ranks = Weigher{asked}(given);
        with_shares += ranks[0] > 0;
        ASSERT_EQ(text_of(ranks), text_of(Exhaustive(asked).best())) << "TEAMO_SEED=" << seed + round;
    }
    std::cout << "seed " << seed << ": " << with_shares << " inventories with shares, " << with_several
              << " ports with several CPUs\n";
    EXPECT_GT(with_shares, 200U);
    EXPECT_GT(with_several, 200U);
}

/// A request for one CPU.
CpuRequest one_cpu(unsigned weight, CpuList now = {}, int node = -1) {
    return {.node = node, .weight = weight, .now = std::move(now)};
}

TEST(CpuAssignment, shares_with_lightest_port) {
    const auto topology = flat(2);
    EXPECT_THAT(assign_cpus({&topology, {0, 1}, {one_cpu(16), one_cpu(2), one_cpu(16)}})[1],
                testing::SizeIs(1));
    // The heavy ports have a CPU each; the light one shares CPU 1, because CPU 0 comes last.
    EXPECT_THAT(assign_cpus({&topology, {0, 1}, {one_cpu(16, {0}), one_cpu(2), one_cpu(16, {1})}}),
                ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(1)));
    EXPECT_THAT(assign_cpus({&topology, {0, 1}, {one_cpu(16)}, {{0, 16}, {1, 1}}}),
                ElementsAre(ElementsAre(1)));
}

/// The second thread of a core is as good as the first while the other one is idle.
TEST(CpuAssignment, stays_on_second_thread_of_idle_core) {
    const auto topology = server(1, 4, 2, 4);
    EXPECT_THAT(assign_cpus({&topology, {0, 1, 2, 3, 4, 5, 6, 7}, {one_cpu(1, {5}, 0), one_cpu(1, {6}, 0)}}),
                ElementsAre(ElementsAre(5), ElementsAre(6)));
    EXPECT_THAT(assign_cpus({&topology, {0, 1, 2, 3, 4, 5, 6, 7}, {one_cpu(1, {1}, 0), one_cpu(1, {5}, 0)}}),
                ElementsAre(ElementsAre(1), ElementsAre(2)));
}

} // namespace
} // namespace teamo
