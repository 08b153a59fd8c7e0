// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/ethtool/ethtool.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

namespace teamo {
namespace {

constexpr const char* no_family = "this kernel has no ethtool netlink (CONFIG_ETHTOOL_NETLINK)";
// The kernel has 64 features at most (netdev_features_t) and names of up to 31 letters.
constexpr std::size_t most_features = 256, longest_name = ETH_GSTRING_LEN;

// The header is the first attribute of every message of the family.
static_assert(int{ETHTOOL_A_FEATURES_HEADER} == int{ETHTOOL_A_LINKMODES_HEADER});

enum class Bits { set, listed };

/// The names of bits. A bitset with a mask also lists the clear bits, one without (NOMASK) only the set ones
/// (Documentation/networking/ethtool-netlink.rst, "Bit sets").
std::optional<FeatureNames> names_of(const nlattr* bitset, Bits which) {
    if (bitset == nullptr || attribute_in(bitset, ETHTOOL_A_BITSET_VALUE) != nullptr)
        return std::nullopt; // the compact form without names, which we do not request
    const bool all = which == Bits::listed || attribute_in(bitset, ETHTOOL_A_BITSET_NOMASK) != nullptr;
    FeatureNames names;
    each_in(attribute_in(bitset, ETHTOOL_A_BITSET_BITS), [&](const nlattr* bit) {
        if (nla_type(bit) != ETHTOOL_A_BITSET_BITS_BIT || names.size() >= most_features) return;
        if (!all && attribute_in(bit, ETHTOOL_A_BITSET_BIT_VALUE) == nullptr) return;
        const auto name = text_in(attribute_in(bit, ETHTOOL_A_BITSET_BIT_NAME));
        if (!name.empty() && name.size() <= longest_name) names.insert(name);
    });
    return names;
}

} // namespace

std::optional<LinkStatus> parse_link_modes(const nlmsghdr* message) {
    LinkStatus status;
    const auto attributes = generic_attributes(message);
    const auto speed = number_in(attribute_in(attributes, ETHTOOL_A_LINKMODES_SPEED));
    if (speed != static_cast<std::uint32_t>(SPEED_UNKNOWN)) status.speed = speed;
    const auto duplex = number_in<std::uint8_t>(attribute_in(attributes, ETHTOOL_A_LINKMODES_DUPLEX));
    if (duplex == DUPLEX_HALF) status.duplex = Duplex::half;
    if (duplex == DUPLEX_FULL) status.duplex = Duplex::full;
    return status;
}

Result<Ethtool> Ethtool::open() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_GENERIC));
    const int family = genl_ctrl_resolve(socket.get(), ETHTOOL_GENL_NAME);
    return Ethtool(std::move(socket), std::max(family, 0));
}

NlMessage Ethtool::make_request(std::uint8_t command, int header_attribute, IfIndex index) const {
    auto message = make_generic_message(family_, ETHTOOL_GENL_VERSION, command, NLM_F_ACK);
    const Nest header(message.get(), header_attribute);
    nla_put_u32(message.get(), ETHTOOL_A_HEADER_DEV_INDEX, index.value);
    return message;
}

Result<LinkStatus> Ethtool::read_link_modes(IfIndex index) {
    if (family_ == 0) return LinkStatus{};
    const auto make = [this, index] {
        return make_request(ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_A_LINKMODES_HEADER, index);
    };
    // A device without link modes (EOPNOTSUPP) has no speed; that is not a failure.
    const auto read = socket_.list(make, parse_link_modes);
    if (!read && read.error().number != EOPNOTSUPP) return tl::unexpected(read.error());
    return read && !read->empty() ? read->back() : LinkStatus{};
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
    TEAMO_TRY(within("features", socket_.dump(make, take, [] {})));
    return features;
}

Result<Ethtool::Set> Ethtool::set_features(IfIndex index, const FeatureSettings& settings) {
    if (family_ == 0) return fail(EOPNOTSUPP, no_family);
    std::optional<FeatureSettings> refused;
    const auto make = [&] {
        auto message = make_request(ETHTOOL_MSG_FEATURES_SET, ETHTOOL_A_FEATURES_HEADER, index);
        put_features(message.get(), settings);
        return message;
    };
    const auto take = [&](const nlmsghdr* message) {
        refused = parse_refused(generic_attributes(message), settings);
    };
    TEAMO_TRY(within("features", socket_.dump(make, take, [&refused] { refused.reset(); })));
    // The reply has only differences (to the earlier state, and to the request).
    auto now = TEAMO_TRY(read_features(index));
    if (!refused) refused = missing(now, settings);
    return Set{.now = std::move(now), .refused = std::move(*refused)};
}

Result<EthtoolEvents> EthtoolEvents::open() {
    auto resolver = TEAMO_TRY(NetlinkSocket::open(NETLINK_GENERIC));
    const int group = genl_ctrl_resolve_grp(resolver.get(), ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME);
    if (group < 0) return fail(EOPNOTSUPP, no_family);
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
    seen.lost = TEAMO_TRY(socket_.receive(note)) == NetlinkSocket::Received::lost;
    return seen;
}

Result<Features> parse_features(std::span<const std::byte> attributes) {
    const auto names = [attributes](int type) { return names_of(attribute_in(attributes, type), Bits::set); };
    auto hardware = names(ETHTOOL_A_FEATURES_HW), active = names(ETHTOOL_A_FEATURES_ACTIVE);
    if (!hardware || !active)
        return fail(EBADMSG, "features: the kernel's answer has no list of active features");
    if (const auto never = names(ETHTOOL_A_FEATURES_NOCHANGE)) *hardware = hardware->without(*never);
    return Features{.active = std::move(*active),
                    .wanted = names(ETHTOOL_A_FEATURES_WANTED).value_or(FeatureNames{}),
                    .changeable = std::move(*hardware)};
}

std::optional<FeatureSettings> parse_refused(std::span<const std::byte> attributes,
                                             const FeatureSettings& settings) {
    // There the mask has the differences to the request; the values are those that were requested.
    const auto names = names_of(attribute_in(attributes, ETHTOOL_A_FEATURES_WANTED), Bits::listed);
    if (!names) return std::nullopt;
    auto refused = settings;
    std::erase_if(refused, [&names](const auto& setting) { return !names->contains(setting.first); });
    return refused;
}

void put_features(nl_msg* message, const FeatureSettings& settings) {
    const Nest wanted(message, ETHTOOL_A_FEATURES_WANTED);
    const Nest bits(message, ETHTOOL_A_BITSET_BITS);
    for (const auto& [name, on] : settings) {
        const Nest bit(message, ETHTOOL_A_BITSET_BITS_BIT);
        nla_put_string(message, ETHTOOL_A_BITSET_BIT_NAME, name.c_str());
        if (on) nla_put_flag(message, ETHTOOL_A_BITSET_BIT_VALUE);
    }
}

IfIndex device_of_ethtool_event(const nlmsghdr* message) {
    const auto* header = attribute_in(generic_attributes(message), ETHTOOL_A_FEATURES_HEADER);
    return IfIndex{number_in(attribute_in(header, ETHTOOL_A_HEADER_DEV_INDEX)).value_or(0)};
}

} // namespace teamo
