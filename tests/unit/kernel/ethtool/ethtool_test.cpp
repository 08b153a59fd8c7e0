// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/ethtool/ethtool.h"

#include <gmock/gmock.h>
#include <linux/ethtool_netlink.h>
#include <netlink/genl/genl.h>

#include <random>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A bitset as the kernel writes it: with a mask all bits are listed, without one only those that are set.
void put_bitset(nl_msg* message, int type, const FeatureSettings& bits, bool with_mask) {
    auto* set = nla_nest_start(message, type);
    if (!with_mask) nla_put_flag(message, ETHTOOL_A_BITSET_NOMASK);
    nla_put_u32(message, ETHTOOL_A_BITSET_SIZE, 64);
    auto* list = nla_nest_start(message, ETHTOOL_A_BITSET_BITS);
    std::uint32_t index = 0;
    for (const auto& [name, on] : bits) {
        if (!with_mask && !on) continue;
        auto* bit = nla_nest_start(message, ETHTOOL_A_BITSET_BITS_BIT);
        nla_put_u32(message, ETHTOOL_A_BITSET_BIT_INDEX, index++);
        nla_put_string(message, ETHTOOL_A_BITSET_BIT_NAME, name.c_str());
        if (with_mask && on) nla_put_flag(message, ETHTOOL_A_BITSET_BIT_VALUE);
        nla_nest_end(message, bit);
    }
    nla_nest_end(message, list);
    nla_nest_end(message, set);
}

std::vector<std::byte> attributes_of(const NlMessage& message) {
    const auto* header = nlmsg_hdr(message.get());
    const auto* first = static_cast<const std::byte*>(nlmsg_data(header));
    return {first, first + nlmsg_datalen(header)};
}

std::vector<std::byte> reply() {
    const auto message = make_message(0, 0);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_HW,
               {{"rx-lro", true}, {"rx-vlan-filter", true}, {"rx-gro", false}, {"netns-local", true}}, true);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_WANTED, {{"rx-lro", true}, {"rx-gro", true}}, false);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_ACTIVE, {{"rx-lro", true}, {"tx-lockless", true}}, false);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_NOCHANGE, {{"netns-local", true}}, false);
    return attributes_of(message);
}

TEST(FeatureMessage, reads_active_wanted_and_changeable) {
    const auto features = parse_features(reply());
    ASSERT_TRUE(features) << features.error().text;
    EXPECT_THAT(features->active, ElementsAre("rx-lro", "tx-lockless"));
    EXPECT_THAT(features->wanted, ElementsAre("rx-gro", "rx-lro"));
    EXPECT_THAT(features->changeable, ElementsAre("rx-lro", "rx-vlan-filter"));
}

TEST(FeatureMessage, rejects_message_without_active_features) {
    const auto message = make_message(0, 0);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_HW, {{"rx-lro", true}}, true);
    EXPECT_FALSE(parse_features(attributes_of(message)));
    EXPECT_FALSE(parse_features({}));
}

TEST(FeatureMessage, ignores_invalid_names) {
    const auto message = make_message(0, 0);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_HW, {{std::string(33, 'x'), true}, {"", true}}, true);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_ACTIVE, {}, false);
    const auto features = parse_features(attributes_of(message));
    ASSERT_TRUE(features);
    EXPECT_THAT(features->changeable, IsEmpty());
}

TEST(FeatureMessage, survives_random_damage) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto whole = reply();
    for (int round = 0; round < 20'000; ++round) {
        auto bytes = whole;
        for (unsigned damage = 1 + random() % 4; damage > 0; --damage)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        bytes.resize(bytes.size() - random() % 64);
        bytes.shrink_to_fit();
        const auto features = parse_features(bytes);
        for (const auto& name : features ? features->active : FeatureNames{})
            ASSERT_LE(name.size(), 32U);
    }
}

TEST(FeatureMessage, requests_bits_by_name_with_mask) {
    const auto message = make_message(0, 0);
    put_features(message.get(), {{"rx-lro", false}, {"rx-vlan-filter", true}});
    // Requests and replies of the kernel have the same format, so the request can be parsed as a reply.
    const auto bytes = attributes_of(message);
    auto* wanted = reinterpret_cast<const nlattr*>(bytes.data());
    EXPECT_EQ(nla_type(wanted), ETHTOOL_A_FEATURES_WANTED);
    const auto as_answer = make_message(0, 0);
    for (const int type : {ETHTOOL_A_FEATURES_HW, ETHTOOL_A_FEATURES_ACTIVE})
        nla_put(as_answer.get(), type, nla_len(wanted), nla_data(wanted));
    const auto features = parse_features(attributes_of(as_answer));
    ASSERT_TRUE(features) << features.error().text;
    EXPECT_THAT(features->active, ElementsAre("rx-vlan-filter"));
}

TEST(FeatureMessage, finds_what_the_driver_refused) {
    const FeatureSettings settings{{"rx-gro", true}, {"rx-lro", false}, {"rx-vlan-filter", true}};
    EXPECT_FALSE(parse_refused({}, settings));
    // The kernel lists what differs from the request, with the requested value.
    const auto message = make_message(0, 0);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_WANTED,
               {{"rx-lro", false}, {"rx-vlan-filter", true}, {"tx-lockless", true}}, true);
    put_bitset(message.get(), ETHTOOL_A_FEATURES_ACTIVE, {{"rx-gro", true}}, true);
    EXPECT_THAT(parse_refused(attributes_of(message), settings).value(),
                ElementsAre(testing::Pair("rx-lro", false), testing::Pair("rx-vlan-filter", true)));
}

TEST(FeatureMessage, finds_features_that_differ_from_request) {
    const Features features{.active = {"rx-lro"}, .wanted = {}, .changeable = {}};
    EXPECT_THAT(missing(features, {{"rx-lro", true}, {"rx-gro", false}}), IsEmpty());
    EXPECT_THAT(missing(features, {{"rx-lro", false}, {"rx-gro", true}}),
                ElementsAre(testing::Pair("rx-gro", true), testing::Pair("rx-lro", false)));
}

constexpr int some_family = 21;

NlMessage notification(std::uint8_t command) {
    auto message = make_message(0, 0);
    genlmsg_put(message.get(), 0, 0, some_family, 0, 0, command, ETHTOOL_GENL_VERSION);
    return message;
}

TEST(EthtoolEvent, reads_device_index) {
    const auto message = notification(ETHTOOL_MSG_FEATURES_NTF);
    auto* header = nla_nest_start(message.get(), ETHTOOL_A_FEATURES_HEADER);
    nla_put_u32(message.get(), ETHTOOL_A_HEADER_DEV_INDEX, 7);
    nla_put_string(message.get(), ETHTOOL_A_HEADER_DEV_NAME, "eth1");
    nla_nest_end(message.get(), header);
    EXPECT_EQ(IfIndex{7}, device_of_ethtool_event(nlmsg_hdr(message.get())));
}

TEST(EthtoolEvent, has_no_device_if_index_is_missing) {
    const auto bare = notification(ETHTOOL_MSG_FEATURES_NTF);
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(nlmsg_hdr(bare.get())));

    const auto no_index = notification(ETHTOOL_MSG_FEATURES_NTF);
    auto* header = nla_nest_start(no_index.get(), ETHTOOL_A_FEATURES_HEADER);
    nla_put_string(no_index.get(), ETHTOOL_A_HEADER_DEV_NAME, "eth1");
    nla_nest_end(no_index.get(), header);
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(nlmsg_hdr(no_index.get())));

    const auto short_index = notification(ETHTOOL_MSG_FEATURES_NTF);
    header = nla_nest_start(short_index.get(), ETHTOOL_A_FEATURES_HEADER);
    nla_put_u16(short_index.get(), ETHTOOL_A_HEADER_DEV_INDEX, 7);
    nla_nest_end(short_index.get(), header);
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(nlmsg_hdr(short_index.get())));

    auto* cut = nlmsg_hdr(bare.get());
    cut->nlmsg_len = NLMSG_HDRLEN + 2;
    EXPECT_EQ(IfIndex{}, device_of_ethtool_event(cut));
}

} // namespace
} // namespace teamo
