// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/cpu_slots.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace teamo {
namespace {

class SlotAssignment {
public:
    SlotAssignment(std::span<const ServedPort> ports, const CpuList& online)
        : ports_(ports.begin(), ports.end()), slots_(online.empty() ? 0 : online.back() + 1) {
        std::ranges::sort(ports_, {}, &ServedPort::slot);
        for (auto& port : ports_)
            std::ranges::sort(port.interrupt_cpus);
        for (const auto cpu : online)
            (servers_of(cpu).empty() ? free_ : serving_).push_back(cpu);
    }

    std::vector<Slot> result() {
        if (ports_.empty()) return slots_;
        // CPUs with the fewest ports first; the others can then go to the ports with few CPUs.
        std::ranges::stable_sort(serving_, {}, [this](unsigned cpu) { return servers_of(cpu).size(); });
        for (const auto cpu : serving_)
            give(cpu, with_fewest(servers_of(cpu)));
        distribute();
        return slots_;
    }

private:
    std::vector<Slot> servers_of(unsigned cpu) const {
        std::vector<Slot> slots;
        for (const auto& port : ports_)
            if (contains(port.interrupt_cpus, cpu)) slots.push_back(port.slot);
        return slots;
    }

    Slot with_fewest(const std::vector<Slot>& slots) const {
        return *std::ranges::min_element(slots, {}, [this](Slot slot) { return has_[slot.value]; });
    }

    void give(unsigned cpu, Slot slot) {
        slots_[cpu] = slot;
        ++has_[slot.value];
    }

    void distribute() {
        // The final number for each port.
        auto end = has_;
        for (std::size_t left = free_.size(); left > 0; --left)
            ++end[std::ranges::min_element(ports_, {}, [&end](const ServedPort& port) {
                      return end[port.slot.value];
                  })->slot.value];
        const auto wants = [&](Slot slot) { return has_[slot.value] < end[slot.value]; };

        std::vector<std::tuple<unsigned, unsigned, Slot>> pairs; // distance, CPU, port
        for (const auto cpu : free_)
            for (const auto& port : ports_)
                for (const auto own : port.interrupt_cpus)
                    pairs.emplace_back(own > cpu ? own - cpu : cpu - own, cpu, port.slot);
        std::ranges::sort(pairs);
        for (const auto& [distance, cpu, slot] : pairs)
            if (!slots_[cpu] && wants(slot)) give(cpu, slot);
        // The rest: CPUs without a pair, to the ports with the fewest.
        for (const auto cpu : free_) {
            if (slots_[cpu]) continue;
            std::vector<Slot> candidates;
            for (const auto& port : ports_)
                if (wants(port.slot)) candidates.push_back(port.slot);
            give(cpu, with_fewest(candidates));
        }
    }

    std::vector<ServedPort> ports_;
    std::vector<Slot> slots_;
    CpuList serving_, free_;
    std::array<std::size_t, max_ports + 1> has_{};
};

} // namespace

std::vector<Slot> cpu_slots(std::span<const ServedPort> ports, const CpuList& online) {
    return SlotAssignment(ports, online).result();
}

CpuList cpus_of(const std::vector<Slot>& cpu_slots, Slot slot) {
    CpuList cpus;
    for (unsigned cpu = 0; cpu < cpu_slots.size(); ++cpu)
        if (cpu_slots[cpu] == slot) cpus.push_back(cpu);
    return cpus;
}

} // namespace teamo
