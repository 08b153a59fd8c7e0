// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/overrun.h"

#include "support/daemon/process.h"
#include "support/eventually.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace teamo::test {
namespace {

/// Events that the kernel has dropped for sockets of this namespace that listen to links.
std::uint64_t dropped_link_events(const NetNs& in) {
    auto table = in.inside([] { return std::ifstream("/proc/thread-self/net/netlink"); });
    std::uint64_t all = 0;
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string socket, family, skipped, groups;
        std::uint64_t drops = 0;
        if (!(words >> socket >> family >> skipped >> groups)) continue;
        for (int column = 0; column < 4; ++column)
            words >> skipped; // rmem, wmem, dump, locks
        if (!(words >> drops) || family != "0") continue;
        constexpr unsigned links = 1; // RTNLGRP_LINK
        if ((std::stoul(groups, nullptr, 16) & links) != 0) all += drops;
    }
    return all;
}

} // namespace

void overrun(const NetNs& in) {
    std::string lines;
    for (int times = 0; times < 2'000; ++times)
        lines += fmt::format("link set lo alias {}\n", times);
    const auto is_full = [&] {
        in.ip(lines);
        return dropped_link_events(in) > 0;
    };
    if (!eventually("", is_full, 60s)) throw SetupError("the kernel drops no event");
}

} // namespace teamo::test
