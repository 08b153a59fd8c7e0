// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/vector_learning.h"

#include <algorithm>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Some cards' statistics are up to a second old.
constexpr auto window = 2s;
/// Reading statistics holds RTNL: the pause doubles while nothing new is learned.
constexpr auto first_pause = 5s, longest_pause = 300s;
/// A vector belongs to a queue after so many observations without a contradiction.
constexpr unsigned enough = 3;

} // namespace

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
