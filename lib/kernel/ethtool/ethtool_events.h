// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"

#include <set>

namespace teamo {

/// What ethtool's "monitor" group says of devices: whose features changed, by whomever (the kernel makes it
/// of NETDEV_FEAT_CHANGE), and whose speed or duplex somebody set.
class EthtoolEvents {
public:
    /// EOPNOTSUPP: this kernel has no ethtool netlink.
    static Result<EthtoolEvents> open();

    struct Seen {
        std::set<IfIndex> features, link_modes;
        bool lost = false; ///< the buffer ran over: any of them may have changed
    };
    /// Everything that waits.
    Result<Seen> take();

    int fd() const { return socket_.fd(); }

private:
    explicit EthtoolEvents(NetlinkSocket socket) : socket_(std::move(socket)) {}
    NetlinkSocket socket_;
};

/// The device that a notification speaks of, whatever its command; none where it is too short.
IfIndex device_of_ethtool_event(const nlmsghdr* message);

} // namespace teamo
