// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/guest.h"

#include "support/daemon/process.h"
#include "support/net/links.h"

#include <fmt/format.h>

namespace teamo::test {

std::string in_guest(const std::string& command) { return must(NetNs::current(), command); }

std::string as_it_is(const std::string& port) {
    in_guest(fmt::format("ip link set {0} up; ip link set {0} down", port));
    return snapshot(NetNs::current(), port);
}

} // namespace teamo::test
