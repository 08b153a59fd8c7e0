// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/process.h"
#include "support/net/net_ns.h"

#include <sstream>
#include <string>

namespace teamo::test {

/// `ip monitor` while this object lives.
class LinkMonitor {
public:
    explicit LinkMonitor(const NetNs& in)
        : in_(in), monitor_(Process::start({.argv = {"ip", "-o", "monitor", "all", "label"}, .in = &in})) {
        await();
    }

    /// The lines until now of which one says that a link is down or that something is deleted: a device, an
    /// address, a route, a rule, a setting. Not neighbours: the kernel deletes those that it no longer needs.
    std::string losses() {
        await();
        std::istringstream lines(monitor_.out());
        std::string found;
        for (std::string line; std::getline(lines, line);)
            if (!line.starts_with("[NEIGH]") &&
                (line.find("DOWN") != std::string::npos || line.find("Deleted") != std::string::npos))
                found += line + "\n";
        return found;
    }

private:
    /// Until it has shown an event of now, so all before it. The event: lo gets an MTU that it has not had.
    void await() {
        const auto mark = fmt::format("mtu {}", ++last_mtu_);
        const auto shown = [&] {
            if (monitor_.out().find(mark) != std::string::npos) return true;
            in_.ip("link set lo mtu 65000\nlink set lo " + mark); // again: it may not have listened yet
            return false;
        };
        if (!eventually("", shown)) throw SetupError("ip monitor shows no events");
    }

    const NetNs& in_;
    Process monitor_;
    unsigned last_mtu_ = 60'000;
};

} // namespace teamo::test
