// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"

#include <set>

namespace teamo {

/// Events of ethtool's "monitor" group: devices whose features changed for any reason (NETDEV_FEAT_CHANGE),
/// and devices whose speed or duplex was set.
class EthtoolEvents {
public:
    /// EOPNOTSUPP: this kernel has no ethtool netlink.
    static Result<EthtoolEvents> open();

    struct Seen {
        std::set<IfIndex> features, link_modes;
        bool lost = false; ///< the buffer overran: any device may have changed
    };
    /// Reads all pending events.
    Result<Seen> take();

    int fd() const { return socket_.fd(); }

private:
    explicit EthtoolEvents(NetlinkSocket socket) : socket_(std::move(socket)) {}
    NetlinkSocket socket_;
};

/// The device of a notification with any command; none if the message is too short.
IfIndex device_of_ethtool_event(const nlmsghdr* message);

} // namespace teamo
