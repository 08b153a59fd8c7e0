// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink_socket.h"
#include "model/status.h"

namespace teamo {

/// ethtool over generic netlink (kernel 5.6 and later; Documentation/networking/ethtool-netlink.rst).
class Ethtool {
public:
    static Result<Ethtool> open();

    /// Speed and duplex; unknown where the device has none to tell. `up` is left alone.
    LinkStatus read_link_modes(IfIndex index);

private:
    Ethtool(NetlinkSocket socket, int family) : socket_(std::move(socket)), family_(family) {}
    NetlinkSocket socket_;
    int family_; ///< 0: this kernel has no ethtool netlink
};

} // namespace teamo
