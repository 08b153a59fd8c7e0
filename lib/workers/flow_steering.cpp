// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RFS is on if both tables have entries: the global one (net.core.rps_sock_flow_entries) and that of a
// receive queue (rps_flow_cnt) (Documentation/networking/scaling.rst).
#include "workers/flow_steering.h"

#include "kernel/files/files.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace teamo {
namespace {

std::uint64_t number_in(const std::string& path) {
    const auto text = read_file(path, 64).value_or("0");
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

} // namespace

std::string flow_steering_conflict(std::span<const std::string> ports, const std::string& root) {
    const auto entries = number_in(root + "/proc/sys/net/core/rps_sock_flow_entries");
    if (entries == 0) return {};
    for (const auto& port : ports) {
        std::error_code gone;
        for (std::filesystem::directory_iterator
                 queue(fmt::format("{}/sys/class/net/{}/queues", root, port), gone),
             end;
             !gone && queue != end; queue.increment(gone))
            if (const auto flows = number_in(queue->path().native() + "/rps_flow_cnt"); flows != 0)
                return fmt::format("RFS is on (net.core.rps_sock_flow_entries is {}, {} {} rps_flow_cnt {}): "
                                   "it moves packets to their process, which conflicts with binding workers",
                                   entries, port, queue->path().filename().native(), flows);
    }
    return {};
}

} // namespace teamo
