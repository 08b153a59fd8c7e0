// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/guest.h"

#include "support/daemon/process.h"
#include "support/net/links.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <utility>

namespace teamo::test {

bool is_at_least(int major, int minor) {
    utsname name{};
    int its_major = 0, its_minor = 0;
    if (::uname(&name) < 0 || std::sscanf(name.release, "%d.%d", &its_major, &its_minor) != 2) return false;
    return std::pair(its_major, its_minor) >= std::pair(major, minor);
}

std::string in_guest(const std::string& command) { return must(NetNs::current(), command); }

std::string as_it_is(const std::string& port) {
    in_guest(fmt::format("ip link set {0} up; ip link set {0} down", port));
    return snapshot(NetNs::current(), port);
}

} // namespace teamo::test
