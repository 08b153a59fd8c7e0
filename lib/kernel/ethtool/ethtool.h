// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/offload.h"
#include "model/status.h"

namespace teamo {

/// ethtool over generic netlink (kernel 5.6 and later; Documentation/networking/ethtool-netlink.rst).
class Ethtool {
public:
    static Result<Ethtool> open();

    /// Speed and duplex; unknown if the device does not report them. Does not set `up`.
    LinkStatus read_link_modes(IfIndex index);

    Result<Features> read_features(IfIndex index);
    /// Requests the settings and returns the features after that. A driver may refuse some of them without an
    /// error (ndo_fix_features), so callers must compare.
    Result<Features> set_features(IfIndex index, const FeatureSettings& settings);

private:
    Ethtool(NetlinkSocket socket, int family) : socket_(std::move(socket)), family_(family) {}
    NlMessage make_request(std::uint8_t command, int header_attribute, IfIndex index) const;
    NetlinkSocket socket_;
    int family_; ///< 0: this kernel has no ethtool netlink
};

} // namespace teamo
