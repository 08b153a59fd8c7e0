// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/net/links.h"
#include "support/net/net_ns.h"

#include <string>
#include <string_view>

namespace teamo::test {

/// What the far ends of a host's cables are plugged into.
enum class FarSide {
    open,            ///< nothing: a test puts its own frames on the wires, and takes them off
    learning_switch, ///< a bridge that learns and floods, as activebackup meets it
    lag_switch,      ///< a bridge that has them as one link: none of them gets what came in by another, and
                     ///< what has no learned way leaves by the first of them only
};

/// The addresses every test uses: .1 is the team's, .2 the client's behind the switch.
inline constexpr const char *team_v4 = "10.0.0.1", *client_v4 = "10.0.0.2", *team_v6 = "fd00::1",
                            *client_v6 = "fd00::2";

/// How fast the kernel tells of a lost link. It does so at once for a veth whose ends have different device
/// numbers; where they are the same it takes it for a card and gathers the news of a second (linkwatch).
enum class News { at_once, gathered };

/// A host with cables: eth1 … ethN here, their far ends p1 … pN in `peer`, there a switch br0 and behind
/// it `client` with its device client0. All cables are plugged, the host's ports are down, as a team wants
/// them. The far ends carry the largest packets there are.
class Cabling {
public:
    Cabling(unsigned ports, FarSide far_side, News news = News::at_once);

    unsigned ports() const { return ports_; }

    const NetNs& host() const { return host_; }
    const NetNs& peer() const { return peer_; }
    const NetNs& client() const { return client_; }

    static std::string port(unsigned number) { return "eth" + std::to_string(number); }
    static std::string far_end(unsigned number) { return "p" + std::to_string(number); }

    void pull(unsigned number) const;
    void plug(unsigned number) const;
    /// Makes one more cable.
    void lay(unsigned number) const;

    /// Gives the team's device, or another that has a carrier or soon gets one, its addresses and brings it
    /// up. Returns when it is in operation, and so are both ends of the cables whose ports here are up.
    void address(std::string_view device = "team0") const;

private:
    void build_switch() const;
    void await_cables() const;

    unsigned ports_;
    FarSide far_side_;
    News news_;
    NetNs host_, peer_, client_;
};

} // namespace teamo::test
