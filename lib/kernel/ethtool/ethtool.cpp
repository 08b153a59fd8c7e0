// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/ethtool/ethtool.h"

#include "kernel/ethtool/feature_message.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

constexpr const char* no_family = "this kernel has no ethtool netlink (CONFIG_ETHTOOL_NETLINK)";

LinkStatus parse_link_modes(const nlmsghdr* message) {
    LinkStatus status;
    std::array<nlattr*, ETHTOOL_A_LINKMODES_MAX + 1> attributes{};
    if (nlmsg_parse(const_cast<nlmsghdr*>(message), GENL_HDRLEN, attributes.data(), ETHTOOL_A_LINKMODES_MAX,
                    nullptr) < 0)
        return status;
    if (const auto* speed = attributes[ETHTOOL_A_LINKMODES_SPEED]; speed != nullptr && nla_len(speed) >= 4)
        if (const auto value = nla_get_u32(speed); value != static_cast<std::uint32_t>(SPEED_UNKNOWN))
            status.speed = value;
    if (const auto* duplex = attributes[ETHTOOL_A_LINKMODES_DUPLEX];
        duplex != nullptr && nla_len(duplex) >= 1)
        switch (nla_get_u8(duplex)) {
        case DUPLEX_HALF: status.duplex = Duplex::half; break;
        case DUPLEX_FULL: status.duplex = Duplex::full; break;
        default: break;
        }
    return status;
}

} // namespace

Result<Ethtool> Ethtool::open() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_GENERIC));
    const int family = genl_ctrl_resolve(socket.get(), ETHTOOL_GENL_NAME);
    return Ethtool(std::move(socket), std::max(family, 0));
}

NlMessage Ethtool::make_request(std::uint8_t command, int header_attribute, IfIndex index) const {
    auto message = make_message(0, 0);
    genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, family_, 0, NLM_F_REQUEST | NLM_F_ACK, command,
                ETHTOOL_GENL_VERSION);
    auto* header = nla_nest_start(message.get(), header_attribute);
    nla_put_u32(message.get(), ETHTOOL_A_HEADER_DEV_INDEX, index.value);
    nla_nest_end(message.get(), header);
    return message;
}

LinkStatus Ethtool::read_link_modes(IfIndex index) {
    LinkStatus status;
    if (family_ == 0) return status;
    const auto make = [this, index] {
        return make_request(ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_A_LINKMODES_HEADER, index);
    };
    // A device without link modes (EOPNOTSUPP) has no speed; that is not a failure.
    static_cast<void>(socket_.dump(
        make, [&status](const nlmsghdr* message) { status = parse_link_modes(message); }, [] {}));
    return status;
}

Result<Features> Ethtool::read_features(IfIndex index) {
    if (family_ == 0) return fail(EOPNOTSUPP, no_family);
    Result<Features> features = fail(EBADMSG, "features: no answer");
    const auto make = [this, index] {
        return make_request(ETHTOOL_MSG_FEATURES_GET, ETHTOOL_A_FEATURES_HEADER, index);
    };
    const auto take = [&features](const nlmsghdr* message) {
        features = parse_features(generic_attributes(message));
    };
    auto read = socket_.dump(make, take, [] {});
    if (!read) return within("features", std::move(read.error()));
    return features;
}

Result<Features> Ethtool::set_features(IfIndex index, const FeatureSettings& settings) {
    if (family_ == 0) return fail(EOPNOTSUPP, no_family);
    auto message = make_request(ETHTOOL_MSG_FEATURES_SET, ETHTOOL_A_FEATURES_HEADER, index);
    put_features(message.get(), settings);
    if (auto done = socket_.request(std::move(message)); !done)
        return within("features", std::move(done.error()));
    // The kernel's reply has only differences (to the earlier state, and to the request).
    return read_features(index);
}

} // namespace teamo
