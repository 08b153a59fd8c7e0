// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/home_caches.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace teamo {
namespace {

class CacheChoice {
public:
    explicit CacheChoice(Assignment& assignment) : asked_(assignment) {
        std::set<unsigned> cores;
        for (const auto& taken : asked_.taken)
            if (const auto* cpu = asked_.topology->find(taken.cpu)) cores.insert(cpu->core);
        for (const auto number : asked_.eligible)
            if (const auto* cpu = asked_.topology->find(number);
                cpu != nullptr && cores.insert(cpu->core).second) {
                auto& cache = caches_[cpu->cache];
                cache.node = cpu->node;
                ++cache.room;
            }
    }

    void choose() {
        std::vector<CpuRequest*> strangers;
        for (auto& taker : asked_.takers) {
            if (taker.count + taker.own.size() < 2) continue;
            taker.home = present_home(taker);
            if (taker.home)
                move_in(taker);
            else
                strangers.push_back(&taker);
        }
        std::ranges::stable_sort(strangers, std::ranges::greater{}, &CpuRequest::count);
        for (auto* taker : strangers) {
            if (caches_.empty()) return;
            taker->home = best_for(*taker, taker->count);
            move_in(*taker);
        }
    }

private:
    struct Cache {
        unsigned node = 0;
        unsigned room = 0; ///< cores
    };

    std::optional<unsigned> present_home(const CpuRequest& taker) const {
        std::map<unsigned, unsigned> cpus_behind;
        for (const auto* list : {&taker.now, &taker.own})
            for (const auto number : *list)
                if (const auto* cpu = asked_.topology->find(number);
                    cpu != nullptr && std::ranges::find(asked_.eligible, number) != asked_.eligible.end())
                    ++cpus_behind[cpu->cache];
        if (cpus_behind.empty()) return std::nullopt;
        return std::ranges::max_element(cpus_behind, {}, [](const auto& pair) { return pair.second; })->first;
    }

    unsigned best_for(const CpuRequest& taker, unsigned need) const {
        return std::ranges::min_element(caches_, {},
                                        [&](const auto& pair) {
                                            const auto& [number, cache] = pair;
                                            return std::tuple(
                                                asked_.topology->distance(taker.node, cache.node),
                                                need - std::min(need, cache.room), cache.room, number);
                                        })
            ->first;
    }

    /// Takes cores of the taker's cache, then of the next best caches.
    void move_in(const CpuRequest& taker) {
        auto need = taker.count;
        if (const auto home = caches_.find(*taker.home); home != caches_.end())
            need -= fill(home->second, need);
        while (need > 0 && !caches_.empty()) {
            auto& next = caches_.at(best_for(taker, need));
            if (next.room == 0) return; // all are full
            need -= fill(next, need);
        }
    }

    static unsigned fill(Cache& cache, unsigned need) {
        const auto goes_in = std::min(need, cache.room);
        cache.room -= goes_in;
        return goes_in;
    }

    Assignment& asked_;
    std::map<unsigned, Cache> caches_;
};

} // namespace

void choose_homes(Assignment& assignment) { CacheChoice(assignment).choose(); }

} // namespace teamo
