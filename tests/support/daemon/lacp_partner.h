// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The other end of a team with the runner lacp: a team of our own in the far namespace.
#pragma once

#include "support/daemon/configs.h"
#include "support/daemon/team_under_test.h"
#include "support/net/cabling.h"

namespace teamo::test {

/// A runner that wants a LACPDU each second.
inline constexpr std::string_view fast =
    R"({"name": "lacp", "fast_rate": true, "tx_hash": ["eth", "ipv4", "l4"]})";

/// The team at the far ends of the cables.
class Partner {
public:
    Partner(const Cabling& wires, std::vector<unsigned> ports, std::string device = "team1",
            std::string_view runner = fast, std::string_view more = "")
        : in_(wires.peer()),
          device_(std::move(device)),
          team_(team_config(runner, ports_of(ports), more, device_), {}, device_, &in_) {
        in_.ip("link set " + device_ + " up");
    }

    TeamUnderTest& team() { return team_; }
    void address() const { in_.ip(fmt::format("addr add {}/24 dev {}", client_v4, device_)); }

private:
    static std::string ports_of(const std::vector<unsigned>& ports) {
        std::vector<std::string> names;
        for (const auto port : ports)
            names.push_back(Cabling::far_end(port));
        return ports_object(names);
    }
    const NetNs& in_;
    std::string device_;
    TeamUnderTest team_;
};

} // namespace teamo::test
