// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/vector_groups.h"

#include "kernel/interrupts/vector_names.h"

#include <algorithm>
#include <set>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Some cards' statistics are up to a second old.
constexpr auto window = 2s;
/// Reading statistics holds RTNL: the pause doubles while nothing new is learned.
constexpr auto first_pause = 5s, longest_pause = 300s;
/// A vector belongs to a queue after so many observations without a contradiction.
constexpr unsigned enough = 3;

using Queues = std::map<unsigned, unsigned>; ///< by IRQ number, or by the number in a name

std::optional<unsigned> find_in(const Queues& queues, unsigned key) {
    const auto found = queues.find(key);
    return found == queues.end() ? std::nullopt : std::optional(found->second);
}

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

void put(PortInterrupts& port, unsigned queue, IrqVector vector) {
    const auto at = std::ranges::lower_bound(port.queues, queue, {}, &QueueVectors::queue);
    const auto group =
        at != port.queues.end() && at->queue == queue ? at : port.queues.insert(at, {.queue = queue});
    group->vectors.push_back(std::move(vector));
}

std::uint64_t increase(std::uint64_t before, std::uint64_t after) {
    return after > before ? after - before : 0;
}

/// The entry that rose, if by `least` or more, and all others together by at most an eighth of that.
std::optional<unsigned> only_riser(const std::map<unsigned, std::uint64_t>& rises, std::uint64_t least) {
    std::uint64_t all = 0;
    for (const auto& [number, by] : rises)
        all += by;
    const auto most = std::ranges::max_element(rises, {}, [](const auto& rise) { return rise.second; });
    if (most == rises.end() || most->second < least || (all - most->second) * 8 > most->second)
        return std::nullopt;
    return most->first;
}

} // namespace

void group_vectors(PortInterrupts& port, std::vector<IrqVector> vectors, const NetdevQueues& netdev_queues,
                   std::span<const std::string> device_names) {
    port.source = VectorSource::none;
    port.queues.clear();
    port.others.clear();
    port.spare.clear();
    if (vectors.empty()) return;
    const auto roles = roles_of(vectors, device_names);
    const auto by_family = reported_queues(netdev_queues);
    // Numbers in names are the driver's and may differ from the kernel's. If the family reports the queue of
    // one vector with a number, all vectors with that number belong to that queue.
    Queues numbers;
    bool named = false, any_reported = false;
    for (std::size_t at = 0; at < vectors.size(); ++at) {
        const bool of_queue = roles[at].kind == VectorRole::Kind::queue;
        const auto reported = find_in(by_family, vectors[at].irq);
        named |= of_queue;
        any_reported |= reported.has_value();
        if (of_queue && reported) numbers.emplace(roles[at].queue, *reported);
    }
    const auto most = std::max(port.receive_queues, port.transmit_queues);
    for (std::size_t at = 0; at < vectors.size(); ++at) {
        const auto [kind, number] = roles[at];
        const auto queue = find_in(numbers, number).value_or(number);
        if (const auto reported = find_in(by_family, vectors[at].irq))
            put(port, *reported, std::move(vectors[at]));
        else if (kind == VectorRole::Kind::queue && (most == 0 || queue < most))
            put(port, queue, std::move(vectors[at]));
        else if (kind == VectorRole::Kind::unknown && !named && !any_reported)
            put(port, 0, std::move(vectors[at]));
        else if (kind == VectorRole::Kind::queue)
            port.spare.push_back(
                std::move(vectors[at])); // ethtool -L; RoCE and NVMe may use them (mlx5_comp)
        else if (kind != VectorRole::Kind::foreign)
            port.others.push_back(std::move(vectors[at]));
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
    const auto queue_of = [&](const IrqVector& vector) {
        const auto queue = find_in(learned, vector.irq);
        return queue && *queue < port.receive_queues ? queue : std::nullopt;
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

QueueVectorLearner::Subject QueueVectorLearner::subject_of(const PortInterrupts& port) {
    Subject subject{.vectors = {}, .queues = port.receive_queues};
    for (const auto& vector : vectors_of(port))
        subject.vectors.emplace_back(vector.irq, vector.name);
    std::ranges::sort(subject.vectors);
    return subject;
}

void QueueVectorLearner::apply(PortInterrupts& port) {
    auto subject = subject_of(port);
    if (subject != subject_) *this = {};
    subject_ = std::move(subject);
    std::map<unsigned, unsigned> known;
    for (const auto& [irq, observation] : observations_)
        if (observation.times >= enough) known.emplace(irq, observation.queue);
    split_by_queue(port, known);
}

bool QueueVectorLearner::wants_sample(const PortInterrupts& port, Time now) const {
    if (uncounted_ || !can_be_split(port)) return false;
    return begun_ ? now - begun_at_ >= window : now >= next_;
}

/// True if this is new.
bool QueueVectorLearner::note(const std::map<unsigned, unsigned>& seen) {
    bool fresh = false;
    for (const auto& [irq, queue] : seen) {
        auto& observation = observations_[irq];
        if (observation.queue != queue) observation = {.queue = queue, .times = 0};
        fresh |= observation.times++ < enough;
    }
    return fresh;
}

bool QueueVectorLearner::learn(PortInterrupts& port, Result<InterruptSample> sample, Time now) {
    const auto before = std::exchange(begun_, std::nullopt);
    pause_ = std::clamp<std::chrono::seconds>(pause_, first_pause, longest_pause);
    next_ = now + pause_;
    if (!sample) {
        uncounted_ = sample.error().number == ENOTSUP || sample.error().number == EOPNOTSUPP;
        return false;
    }
    if (!before) {
        begun_ = std::move(*sample);
        begun_at_ = now;
        return false;
    }
    pause_ = note(infer_queues(*before, *sample)) ? first_pause : 2 * pause_;
    apply(port);
    return port.source == VectorSource::counts;
}

} // namespace teamo
