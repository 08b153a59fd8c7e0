// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/interrupts/assign_cpus.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace teamo {
namespace {

class CpuCounter {
public:
    CpuCounter(const CpuTopology& topology, const CpuList& free, const CpuList& taken,
               const std::vector<CountedPort>& ports)
        : ports_(ports), counts_(ports.size()), bound_(ports.size()) {
        std::set<unsigned> cores;
        for (const auto number : taken)
            if (const auto* cpu = topology.find(number)) cores.insert(cpu->core);
        for (const auto number : free)
            if (const auto* cpu = topology.find(number)) {
                auto& node = nodes_[static_cast<int>(cpu->node)];
                ++node.threads;
                if (cores.insert(cpu->core).second) ++node.cores;
            }
        for (const auto& [number, node] : nodes_)
            cores_ += node.cores;
    }

    std::vector<unsigned> result() {
        for (std::size_t port = 0; port < ports_.size(); ++port)
            take_first(port);
        hand_out([this](std::size_t port) { return std::min(ports_[port].now, ports_[port].most); });
        hand_out([this](std::size_t port) { return ports_[port].most; });
        while (shift_one()) {
        }
        return counts_;
    }

private:
    struct Node {
        unsigned threads = 0, cores = 0;
        unsigned used = 0;
    };

    void take_first(std::size_t port) {
        counts_[port] = std::max(1U, ports_[port].fixed);
        if (const auto node = nodes_.find(ports_[port].node);
            node != nodes_.end() && node->second.used < node->second.threads)
            bound_[port] = &node->second;
        if (ports_[port].fixed == 0) ++used(port);
    }

    unsigned& used(std::size_t port) { return bound_[port] == nullptr ? used_anywhere_ : bound_[port]->used; }

    bool is_core_left(std::size_t port) const {
        auto used = used_anywhere_;
        for (const auto& [number, node] : nodes_)
            used += std::min(node.used, node.cores);
        const auto* node = bound_[port];
        return used < cores_ && (node == nullptr || node->used < node->cores);
    }

    double load_per_cpu(std::size_t port, unsigned fewer = 0) const {
        return ports_[port].load / (counts_[port] - fewer);
    }

    /// The port with the most load per CPU has the least; of equal ones, the port with the fewest CPUs.
    std::pair<double, unsigned> wealth(std::size_t port) const {
        return {-load_per_cpu(port), counts_[port]};
    }

    template <class Limit>
    void hand_out(const Limit& limit) {
        for (;;) {
            std::optional<std::size_t> poorest;
            for (std::size_t port = 0; port < ports_.size(); ++port)
                if (counts_[port] < limit(port) && is_core_left(port) &&
                    (!poorest || wealth(port) < wealth(*poorest)))
                    poorest = port;
            if (!poorest) return;
            ++counts_[*poorest];
            ++used(*poorest);
        }
    }

    /// Moves one CPU from the port with the least load per CPU to a port that gains enough by it.
    bool shift_one() {
        for (std::size_t to = 0; to < ports_.size(); ++to) {
            if (counts_[to] >= ports_[to].most) continue;
            std::optional<std::size_t> richest;
            for (std::size_t from = 0; from < ports_.size(); ++from)
                if (can_give(from, to) && (!richest || load_per_cpu(from, 1) < load_per_cpu(*richest, 1)))
                    richest = from;
            if (!richest) continue;
            --counts_[*richest];
            --used(*richest);
            ++counts_[to];
            ++used(to);
            return true;
        }
        return false;
    }

    bool can_give(std::size_t from, std::size_t to) {
        constexpr double least_ratio = 1.2;
        if (from == to || counts_[from] <= std::max(1U, ports_[from].fixed)) return false;
        if (!(load_per_cpu(to) > least_ratio * load_per_cpu(from, 1))) return false;
        --used(from);
        const bool fits = is_core_left(to);
        ++used(from);
        return fits;
    }

    const std::vector<CountedPort>& ports_;
    std::vector<unsigned> counts_;
    std::map<int, Node> nodes_;
    std::vector<Node*> bound_; ///< by port: its node; nullptr if that has no CPU for it
    unsigned cores_ = 0, used_anywhere_ = 0;
};

} // namespace

std::vector<unsigned> cpu_counts(const CpuTopology& topology, const CpuList& free, const CpuList& taken,
                                 const std::vector<CountedPort>& ports) {
    return CpuCounter(topology, free, taken, ports).result();
}

} // namespace teamo
