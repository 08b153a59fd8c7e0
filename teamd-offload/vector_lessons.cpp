// SPDX-License-Identifier: LGPL-2.1-or-later
#include "vector_lessons.h"

#include "kernel/queue_packets.h"

#include <utility>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// From window to window: reading statistics holds the kernel's lock of all devices.
constexpr auto pause = 5s;

} // namespace

void VectorLessons::apply(PortInterrupts& port) {
    if (port.source != VectorSource::together) return;
    const auto& vectors = port.queues.front().vectors;
    std::erase_if(learned_, [&vectors](const auto& lesson) {
        return std::ranges::find(vectors, lesson.first, &Vector::irq) == vectors.end();
    });
    begun_.reset();
    uncounted_ = false;
    divide(port, learned_);
}

bool VectorLessons::learn(PortInterrupts& port, const std::string& device, Clock::time_point now) {
    if (port.source != VectorSource::together || port.receive_queues < 2 || uncounted_) return false;
    if (!begun_ && now < next_) return false;
    auto packets = read_queue_packets(device, port.receive_queues);
    if (!packets) {
        uncounted_ = packets.error().number != EAGAIN;
        return false;
    }
    InterruptSample sample{.vectors = {}, .packets = std::move(*packets)};
    for (const auto& vector : port.queues.front().vectors)
        sample.vectors.emplace(vector.irq, vector.count);
    const auto before = std::exchange(begun_, std::nullopt);
    if (!before) {
        begun_ = std::move(sample);
        next_ = now + pause;
        return false;
    }
    for (const auto& [irq, queue] : learn_groups(*before, sample))
        learned_.insert_or_assign(irq, queue);
    return divide(port, learned_);
}

} // namespace teamo
