// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/net/links.h"
#include "support/net/net_ns.h"

#include <string>
#include <string_view>

namespace teamo::test {

/// What the far ends of a host's cables are connected to.
enum class FarSide {
    open,            ///< nothing: the test sends and receives frames itself
    learning_switch, ///< a bridge that learns and floods, for activebackup
    lag_switch,      ///< a bridge that treats them as one link: it does not forward between them, and
                     ///< floods to the first of them only
};

/// The addresses every test uses: .1 is the team's, .2 the client's behind the switch.
inline constexpr const char *team_v4 = "10.0.0.1", *client_v4 = "10.0.0.2", *team_v6 = "fd00::1",
                            *client_v6 = "fd00::2";

/// How fast the kernel reports a lost link: at once for a veth whose ends have different ifindexes. If they
/// are equal, linkwatch treats it like a card and delays events for up to a second.
enum class LinkEvents { immediate, delayed };

/// A host with cables: ports eth1 … ethN, their far ends p1 … pN in `peer` with a switch br0, and behind it
/// `client` with the device client0. All cables are plugged in; the host's ports are down, as a team needs
/// them. The far ends have the largest MTU.
class Cabling {
public:
    Cabling(unsigned ports, FarSide far_side, LinkEvents events = LinkEvents::immediate);

    unsigned ports() const { return ports_; }

    const NetNs& host() const { return host_; }
    const NetNs& peer() const { return peer_; }
    const NetNs& client() const { return client_; }

    static std::string port(unsigned number) { return "eth" + std::to_string(number); }
    static std::string far_end(unsigned number) { return "p" + std::to_string(number); }

    void pull(unsigned number) const;
    void plug(unsigned number) const;
    /// Adds a cable. Both ends have the same ifindex in each test, unless `generation` is another.
    void add_cable(unsigned number, unsigned generation = 0) const;

    /// Sets the addresses of the team's device (or of another with a carrier) and brings it up. Returns when
    /// it is operational, and both ends of all cables whose port is up.
    void address(std::string_view device = "team0") const;

private:
    /// What ip(8) is told at each end of a cable.
    std::string near_lines(unsigned number, unsigned generation) const;
    std::string far_lines(unsigned number) const;
    void build_switch() const;
    void await_cables() const;

    unsigned ports_;
    FarSide far_side_;
    LinkEvents events_;
    NetNs host_, peer_, client_;
};

} // namespace teamo::test
