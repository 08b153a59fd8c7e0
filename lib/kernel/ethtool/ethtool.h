// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ethtool over generic netlink (kernel 5.6 and later; Documentation/networking/ethtool-netlink.rst).
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/offload.h"
#include "model/status.h"

#include <set>

namespace teamo {

class Ethtool {
public:
    static Result<Ethtool> open();

    /// Speed and duplex; unknown if the device does not report them. Does not set `up`.
    Result<LinkStatus> read_link_modes(IfIndex index);

    Result<Features> read_features(IfIndex index);
    /// A driver may refuse settings without an error (ndo_fix_features): `refused`, as the kernel answered.
    /// `now` is read after that; another program may have changed it again in between.
    struct Set {
        Features now;
        FeatureSettings refused;
    };
    Result<Set> set_features(IfIndex index, const FeatureSettings& settings);

private:
    Ethtool(NetlinkSocket socket, int family) : socket_(std::move(socket)), family_(family) {}
    NlMessage make_request(std::uint8_t command, int header_attribute, IfIndex index) const;
    NetlinkSocket socket_;
    int family_; ///< 0: this kernel has no ethtool netlink
};

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

// Messages and values, pure.

/// Speed and duplex of a LINKMODES_GET_REPLY; what it does not have is unknown. Never none.
std::optional<LinkStatus> parse_link_modes(const nlmsghdr* message);

/// Takes the attributes of a FEATURES_GET_REPLY or FEATURES_NTF, which follow the generic netlink header.
/// EBADMSG: the active or the changeable features are missing.
Result<Features> parse_features(std::span<const std::byte> attributes);

/// Of the settings of a request, those that its FEATURES_SET_REPLY lists as refused. None: it has no list.
std::optional<FeatureSettings> parse_refused(std::span<const std::byte> attributes,
                                             const FeatureSettings& settings);

/// Appends the attributes of a FEATURES_SET. The kernel refuses names that it does not know.
void put_features(nl_msg* message, const FeatureSettings& settings);

/// The device of a notification with any command; none if the message is too short.
IfIndex device_of_ethtool_event(const nlmsghdr* message);

} // namespace teamo
