// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/queue_cpus.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace teamo {
namespace {

class QueueAssignment {
public:
    QueueAssignment(const PlannedPort& port, const CpuList& cpus)
        : port_(port),
          is_loaded_(std::ranges::any_of(port.loads, [](double load) { return load > 0; })),
          cpus_(port.queues) {
        for (const auto cpu : cpus)
            loads_[cpu] = {};
        for (std::size_t queue = 0; queue < port.queues; ++queue)
            if (const auto cpu = fixed_cpu(port, queue)) {
                put(queue, *cpu);
            } else {
                movable_.push_back(queue);
            }
        std::ranges::stable_sort(movable_, std::ranges::greater{},
                                 [this](std::size_t queue) { return load(queue); });
    }

    bool lacks_cpus() const { return loads_.empty() && !movable_.empty(); }

    QueueAssignment& keep_present() {
        std::erase_if(movable_, [this](std::size_t queue) {
            if (!loads_.contains(now(queue))) return false;
            put(queue, now(queue));
            return true;
        });
        return *this;
    }

    /// The largest load first, each to the CPU with the least load (Graham 1969).
    QueueAssignment& assign_rest() {
        for (const auto queue : movable_)
            put(queue, std::ranges::min_element(loads_, {}, [&](const auto& pair) {
                           return std::tuple(pair.second, pair.first != now(queue), pair.first);
                       })->first);
        return *this;
    }

    double busiest() const {
        double most = 0;
        for (const auto& [cpu, share] : loads_)
            most = std::max(most, share.load);
        return most;
    }
    const std::vector<unsigned>& cpus() const { return cpus_; }

private:
    struct Share {
        double load = 0;
        unsigned queues = 0;
        auto operator<=>(const Share&) const = default; // NOLINT(modernize-use-nullptr): as named.h
    };
    static constexpr auto nowhere = static_cast<unsigned>(-1);

    /// All equal as long as there was no traffic.
    double load(std::size_t queue) const {
        if (!is_loaded_) return 1;
        return queue < port_.loads.size() ? port_.loads[queue] : 0;
    }
    unsigned now(std::size_t queue) const { return queue < port_.now.size() ? port_.now[queue] : nowhere; }

    void put(std::size_t queue, unsigned cpu) {
        cpus_[queue] = cpu;
        if (const auto found = loads_.find(cpu); found != loads_.end()) {
            found->second.load += load(queue);
            ++found->second.queues;
        }
    }

    const PlannedPort& port_;
    bool is_loaded_;
    std::vector<unsigned> cpus_;
    std::map<unsigned, Share> loads_; ///< by eligible CPU
    std::vector<std::size_t> movable_;
};

} // namespace

std::vector<unsigned> queue_cpus(const PlannedPort& port, const CpuList& cpus) {
    constexpr double worthwhile_share = 0.8;
    QueueAssignment kept(port, cpus);
    if (kept.lacks_cpus()) return {};
    auto renewed = kept;
    kept.keep_present().assign_rest();
    renewed.assign_rest();
    return (renewed.busiest() < worthwhile_share * kept.busiest() ? renewed : kept).cpus();
}

} // namespace teamo
