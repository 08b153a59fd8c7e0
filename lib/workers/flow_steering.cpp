// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RFS is on if both tables have entries: the global one (net.core.rps_sock_flow_entries) and that of a
// receive queue (rps_flow_cnt) (Documentation/networking/scaling.rst).
#include "workers/flow_steering.h"

#include "kernel/files/files.h"

#include <fmt/format.h>

namespace teamo {

std::string flow_steering_conflict(std::span<const std::string> ports, const std::string& root) {
    const auto entries = sysfs::number(root + "/proc/sys/net/core/rps_sock_flow_entries").value_or(0);
    if (entries == 0) return {};
    for (const auto& port : ports) {
        const auto queues = fmt::format("{}/sys/class/net/{}/queues", root, port);
        for (const auto& queue : sysfs::names_in(queues))
            if (const auto flows =
                    sysfs::number(fmt::format("{}/{}/rps_flow_cnt", queues, queue)).value_or(0);
                flows != 0)
                return fmt::format("RFS is on (net.core.rps_sock_flow_entries is {}, {} {} rps_flow_cnt {}): "
                                   "it moves packets to their process, which conflicts with binding workers",
                                   entries, port, queue, flows);
    }
    return {};
}

} // namespace teamo
