// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/doctor/repeated_frames.h"

#include <algorithm>
#include <tuple>

namespace teamo::ctl {
namespace {

/// Copies of a frame differ by the time in the queues of the switch.
constexpr std::chrono::milliseconds max_difference{20};

} // namespace

RepeatedFrames repeated_frames(std::span<const GroupFrame> frames, const MacAddress& own) {
    std::vector<const GroupFrame*> list;
    RepeatedFrames found;
    for (const auto& frame : frames) {
        if (frame.source == own) {
            ++found.own;
            found.ports.insert(frame.port);
        } else {
            list.push_back(&frame);
        }
    }
    std::ranges::sort(list, {}, [](const GroupFrame* frame) { return std::tie(frame->bytes, frame->at); });
    for (std::size_t first = 0; first < list.size();) {
        auto end = first + 1;
        while (end < list.size() && list[end]->bytes == list[first]->bytes &&
               list[end]->at - list[first]->at <= max_difference)
            ++end;
        std::set<IfIndex> ports;
        for (auto at = first; at < end; ++at)
            ports.insert(list[at]->port);
        ++found.different;
        if (ports.size() > 1) {
            ++found.duplicated;
            found.ports.merge(ports);
        }
        first = end;
    }
    return found;
}

} // namespace teamo::ctl
