// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/ethtool/ethtool_events.h"

#include <linux/ethtool_netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include <array>

namespace teamo {
namespace {

// The header is the first attribute of every message of the family.
static_assert(int{ETHTOOL_A_FEATURES_HEADER} == int{ETHTOOL_A_LINKMODES_HEADER});

} // namespace

IfIndex device_of_ethtool_event(const nlmsghdr* message) {
    std::array<nlattr*, ETHTOOL_A_FEATURES_HEADER + 1> attributes{};
    std::array<nlattr*, ETHTOOL_A_HEADER_DEV_INDEX + 1> header{};
    auto* raw = const_cast<nlmsghdr*>(message);
    if (nlmsg_datalen(message) < static_cast<int>(GENL_HDRLEN) ||
        nlmsg_parse(raw, GENL_HDRLEN, attributes.data(), ETHTOOL_A_FEATURES_HEADER, nullptr) < 0)
        return {};
    auto* nest = attributes[ETHTOOL_A_FEATURES_HEADER];
    if (nest == nullptr || nla_parse_nested(header.data(), ETHTOOL_A_HEADER_DEV_INDEX, nest, nullptr) < 0)
        return {};
    const auto* index = header[ETHTOOL_A_HEADER_DEV_INDEX];
    if (index == nullptr || nla_len(index) < static_cast<int>(sizeof(std::uint32_t))) return {};
    return IfIndex{nla_get_u32(index)};
}

Result<EthtoolEvents> EthtoolEvents::open() {
    auto resolver = TEAMO_TRY(NetlinkSocket::open(NETLINK_GENERIC));
    const int group = genl_ctrl_resolve_grp(resolver.get(), ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME);
    if (group < 0) return fail(EOPNOTSUPP, "this kernel has no ethtool netlink (CONFIG_ETHTOOL_NETLINK)");
    auto socket = TEAMO_TRY(NetlinkSocket::listen(NETLINK_GENERIC, {group}));
    return EthtoolEvents(std::move(socket));
}

Result<EthtoolEvents::Seen> EthtoolEvents::take() {
    Seen seen;
    const auto note = [&seen](const nlmsghdr* message) {
        const auto device = device_of_ethtool_event(message);
        if (!device) return;
        const auto* header = static_cast<const genlmsghdr*>(nlmsg_data(message));
        if (header->cmd == ETHTOOL_MSG_FEATURES_NTF) seen.features.insert(device);
        if (header->cmd == ETHTOOL_MSG_LINKMODES_NTF) seen.link_modes.insert(device);
    };
    const auto received = TEAMO_TRY(socket_.receive(note));
    seen.lost = received == NetlinkSocket::Received::lost;
    return seen;
}

} // namespace teamo
