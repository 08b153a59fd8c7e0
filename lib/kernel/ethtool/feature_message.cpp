// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/ethtool/feature_message.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace teamo {
namespace {

// The kernel has 64 features at most (netdev_features_t) and names of up to 31 letters.
constexpr std::size_t most_features = 256, longest_name = ETH_GSTRING_LEN;

std::span<const std::byte> bytes_of(const nlattr* attribute) {
    return {static_cast<const std::byte*>(nla_data(attribute)), static_cast<std::size_t>(nla_len(attribute))};
}

template <std::size_t Size>
bool parse(std::array<nlattr*, Size>& found, std::span<const std::byte> bytes) {
    auto* first = reinterpret_cast<nlattr*>(const_cast<std::byte*>(bytes.data()));
    return nla_parse(found.data(), static_cast<int>(Size) - 1, first, static_cast<int>(bytes.size()),
                     nullptr) >= 0;
}

std::string name_of(const nlattr* attribute) {
    if (attribute == nullptr) return {};
    const auto bytes = bytes_of(attribute);
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    const auto length = strnlen(text, bytes.size());
    return length > longest_name ? std::string() : std::string(text, length);
}

/// The names of the bits that are set. A bitset with a mask also lists the clear bits, one without (NOMASK)
/// only the set ones (Documentation/networking/ethtool-netlink.rst, "Bit sets").
std::optional<FeatureNames> set_bits(const nlattr* bitset) {
    std::array<nlattr*, ETHTOOL_A_BITSET_MAX + 1> parts{};
    if (bitset == nullptr || !parse(parts, bytes_of(bitset)) || parts[ETHTOOL_A_BITSET_VALUE] != nullptr)
        return std::nullopt; // the compact form without names, which we do not request
    const bool is_list = parts[ETHTOOL_A_BITSET_NOMASK] != nullptr;
    FeatureNames names;
    auto* bits = parts[ETHTOOL_A_BITSET_BITS];
    if (bits == nullptr) return names;
    auto* bit = static_cast<nlattr*>(nla_data(bits));
    for (int rest = nla_len(bits); nla_ok(bit, rest) != 0 && names.size() < most_features;
         bit = nla_next(bit, &rest)) {
        std::array<nlattr*, ETHTOOL_A_BITSET_BIT_MAX + 1> attributes{};
        if (nla_type(bit) != ETHTOOL_A_BITSET_BITS_BIT || !parse(attributes, bytes_of(bit))) continue;
        if (!is_list && attributes[ETHTOOL_A_BITSET_BIT_VALUE] == nullptr) continue;
        if (auto name = name_of(attributes[ETHTOOL_A_BITSET_BIT_NAME]); !name.empty())
            names.insert(std::move(name));
    }
    return names;
}

} // namespace

Result<Features> parse_features(std::span<const std::byte> attributes) {
    std::array<nlattr*, ETHTOOL_A_FEATURES_MAX + 1> parts{};
    if (!parse(parts, attributes)) return fail(EBADMSG, "features: malformed attributes");
    auto hardware = set_bits(parts[ETHTOOL_A_FEATURES_HW]);
    auto active = set_bits(parts[ETHTOOL_A_FEATURES_ACTIVE]);
    if (!hardware || !active)
        return fail(EBADMSG, "features: the kernel's answer has no list of active features");
    if (const auto never = set_bits(parts[ETHTOOL_A_FEATURES_NOCHANGE]))
        std::erase_if(*hardware, [&never](const std::string& name) { return never->contains(name); });
    return Features{.active = std::move(*active),
                    .wanted = set_bits(parts[ETHTOOL_A_FEATURES_WANTED]).value_or(FeatureNames{}),
                    .changeable = std::move(*hardware)};
}

void put_features(nl_msg* message, const FeatureSettings& settings) {
    auto* wanted = nla_nest_start(message, ETHTOOL_A_FEATURES_WANTED);
    auto* bits = nla_nest_start(message, ETHTOOL_A_BITSET_BITS);
    for (const auto& [name, on] : settings) {
        auto* bit = nla_nest_start(message, ETHTOOL_A_BITSET_BITS_BIT);
        nla_put_string(message, ETHTOOL_A_BITSET_BIT_NAME, name.c_str());
        if (on) nla_put_flag(message, ETHTOOL_A_BITSET_BIT_VALUE);
        nla_nest_end(message, bit);
    }
    nla_nest_end(message, bits);
    nla_nest_end(message, wanted);
}

} // namespace teamo
