// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The configurations that most tests use.
#pragma once

#include "support/daemon/configs.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/cabling.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace teamo::test {

/// Ports eth1 … ethN, each with `port_options` as its object.
inline std::string ports_object(unsigned ports, std::string_view port_options = "{}") {
    std::vector<std::string> names;
    for (unsigned number = 1; number <= ports; ++number)
        names.push_back(Cabling::port(number));
    return ports_object(names, port_options);
}

inline std::string loadbalance(unsigned ports) { return team_config(by_flow, ports_object(ports)); }

/// activebackup with eth1 preferred, then eth2, and so on.
inline std::string ranked_activebackup(unsigned ports) {
    std::string object;
    for (unsigned number = 1; number <= ports; ++number)
        object += fmt::format(R"({}"{}": {{"prio": {}}})", number == 1 ? "" : ", ", Cabling::port(number),
                              100 - 10 * number);
    return team_config(activebackup, "{" + object + "}");
}

/// Waits until the link watches report all links up, sets the team's addresses, and waits until all devices
/// on the path are operational.
inline void bring_up(const Cabling& wires, const TeamUnderTest& team) {
    for (unsigned number = 1; number <= wires.ports(); ++number)
        if (const auto up = team.await_link(Cabling::port(number)); !up) throw SetupError(up.message());
    wires.address();
    if (exists(wires.host(), "tmo0")) await_operation(wires.host(), "tmo0"); // the driver has no inner device
}

/// Whether the kernel's team driver carries the packets. Most tests do not depend on it.
inline bool by_driver(const Cabling& wires) { return look(wires.host(), "team0").kind == "team"; }
inline bool by_bonding(const Cabling& wires) { return look(wires.host(), "team0").kind == "bond"; }
/// The same before there is a team.
inline bool starts_by_bonding() {
    const auto* options = std::getenv("TEAMO_DAEMON_OPTIONS");
    return options != nullptr && std::string_view(options).ends_with("bond");
}

} // namespace teamo::test
