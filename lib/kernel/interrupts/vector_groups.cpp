// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/vector_groups.h"

#include "kernel/interrupts/vector_names.h"

#include <algorithm>
#include <set>

namespace teamo {
namespace {

using Queues = std::map<unsigned, unsigned>; ///< by IRQ number

/// As the netdev family reports. A vector that serves several queues belongs to the lowest receive queue.
Queues reported_queues(const NetdevQueues& netdev_queues) {
    Queues queues;
    for (const bool receive : {true, false})
        for (const auto& queue : netdev_queues.queues) {
            if (queue.receive != receive) continue;
            const auto napi = std::ranges::find(netdev_queues.napis, queue.napi, &NetdevNapi::id);
            if (napi == netdev_queues.napis.end() || !napi->irq) continue;
            const auto [known, fresh] = queues.emplace(*napi->irq, queue.queue);
            if (!fresh && receive) known->second = std::min(known->second, queue.queue);
        }
    return queues;
}

/// Numbers in names are the driver's and may differ from the kernel's. If the family reports the queue of one
/// vector with a number, all vectors with that number belong to that queue.
unsigned queue_of(unsigned number, const std::map<unsigned, unsigned>& known) {
    const auto found = known.find(number);
    return found == known.end() ? number : found->second;
}

void put(PortInterrupts& port, unsigned queue, IrqVector vector) {
    const auto at = std::ranges::lower_bound(port.queues, queue, {}, &QueueVectors::queue);
    const auto group = at != port.queues.end() && at->queue == queue
                           ? at
                           : port.queues.insert(at, {.queue = queue, .vectors = {}, .thread = {}});
    group->vectors.push_back(std::move(vector));
}

std::uint64_t increase(std::uint64_t before, std::uint64_t after) {
    return after > before ? after - before : 0;
}

/// The entry that rose, if by `least` or more, and all others together by at most an eighth of that.
template <class Moves>
std::optional<unsigned> only_riser(const Moves& moves, std::uint64_t least) {
    std::uint64_t most = 0, all = 0;
    unsigned which = 0;
    for (const auto& [number, by] : moves) {
        all += by;
        if (by > most) {
            most = by;
            which = number;
        }
    }
    if (most < least || (all - most) * 8 > most) return std::nullopt;
    return which;
}

} // namespace

void group_vectors(PortInterrupts& port, std::vector<IrqVector> vectors, const NetdevQueues& netdev_queues,
                   std::span<const std::string> device_names) {
    port.source = VectorSource::none;
    port.queues.clear();
    port.others.clear();
    if (vectors.empty()) return;
    std::vector<std::string> names;
    for (const auto& vector : vectors)
        names.push_back(vector.name);
    const auto roles = roles_of(names, device_names);
    const auto by_family = reported_queues(netdev_queues);
    std::map<unsigned, unsigned> numbers; // queue numbers: those in names to the kernel's
    bool named = false, any_reported = false;
    for (std::size_t at = 0; at < vectors.size(); ++at) {
        const bool of_queue = roles[at].kind == VectorRole::Kind::queue;
        named |= of_queue;
        const auto found = by_family.find(vectors[at].irq);
        if (found == by_family.end()) continue;
        any_reported = true;
        if (of_queue) numbers.emplace(roles[at].queue, found->second);
    }
    const auto most = std::max(port.receive_queues, port.transmit_queues);
    for (std::size_t at = 0; at < vectors.size(); ++at) {
        if (const auto found = by_family.find(vectors[at].irq); found != by_family.end())
            put(port, found->second, std::move(vectors[at]));
        else if (const auto queue = queue_of(roles[at].queue, numbers);
                 roles[at].kind == VectorRole::Kind::queue && (most == 0 || queue < most))
            put(port, queue, std::move(vectors[at]));
        else if (roles[at].kind == VectorRole::Kind::unknown && !named && !any_reported)
            put(port, 0, std::move(vectors[at]));
        else if (roles[at].kind != VectorRole::Kind::foreign)
            port.others.push_back(std::move(vectors[at])); // also unused queues (ethtool -L)
    }
    if (any_reported)
        port.source = VectorSource::netdev;
    else if (named && !port.queues.empty())
        port.source = VectorSource::names;
    else if (!port.queues.empty())
        port.source = VectorSource::ungrouped;
}

std::map<unsigned, unsigned> infer_queues(const InterruptSample& before, const InterruptSample& after) {
    constexpr std::uint64_t least_packets = 64, least_interrupts = 8;
    std::map<unsigned, std::uint64_t> vectors, queues;
    for (const auto& [irq, count] : after.vectors)
        if (const auto earlier = before.vectors.find(irq); earlier != before.vectors.end())
            vectors[irq] = increase(earlier->second, count);
    for (unsigned queue = 0; queue < std::min(before.packets.size(), after.packets.size()); ++queue)
        queues[queue] = increase(before.packets[queue], after.packets[queue]);
    const auto vector = only_riser(vectors, least_interrupts);
    const auto queue = only_riser(queues, least_packets);
    if (!vector || !queue || increase(before.sent, after.sent) * 2 > queues[*queue]) return {};
    return {{*vector, *queue}};
}

bool can_be_split(const PortInterrupts& port) {
    return port.source == VectorSource::ungrouped && port.queues.size() == 1 && port.receive_queues >= 2 &&
           port.queues.front().vectors.size() >= port.receive_queues && !port.queues.front().thread;
}

bool split_by_queue(PortInterrupts& port, const std::map<unsigned, unsigned>& learned) {
    if (!can_be_split(port)) return false;
    const auto queue_of = [&](const IrqVector& vector) -> std::optional<unsigned> {
        const auto found = learned.find(vector.irq);
        if (found == learned.end() || found->second >= port.receive_queues) return std::nullopt;
        return found->second;
    };
    std::set<unsigned> known;
    for (const auto& vector : port.queues.front().vectors)
        if (const auto queue = queue_of(vector)) known.insert(*queue);
    if (known.size() < port.receive_queues) return false;
    auto vectors = std::move(port.queues.front().vectors);
    port.queues.clear();
    for (auto& vector : vectors)
        if (const auto queue = queue_of(vector))
            put(port, *queue, std::move(vector));
        else
            port.others.push_back(std::move(vector));
    port.source = VectorSource::counts;
    return true;
}

} // namespace teamo
