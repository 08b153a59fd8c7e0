// SPDX-License-Identifier: LGPL-2.1-or-later
//
// lib/kernel on a real kernel, compared with what ethtool(8) and ip(8) show.
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/addresses.h"
#include "kernel/netlink/links.h"
#include "support/daemon/process.h"
#include "support/net/cabling.h"
#include "support/net/programs.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Features, matches_ethtool) {
    const Cabling wires(1, FarSide::open);
    const auto eth1 = index_of(wires.host(), "eth1");
    auto ethtool = wires.host().inside([] { return Ethtool::open(); });
    ASSERT_TRUE(ethtool);

    must(wires.host(), "ethtool -K eth1 rx-gro-list off tx-udp-segmentation on");
    const auto before = ethtool->read_features(eth1);
    ASSERT_TRUE(before) << before.error().text;
    EXPECT_THAT(before->changeable, Contains("rx-gro-list"));
    EXPECT_THAT(before->changeable, Not(Contains("rx-vlan-filter"))) << "ethtool -k shows [fixed]";
    EXPECT_THAT(before->changeable, Not(Contains("netns-local"))) << "can never be changed";
    EXPECT_THAT(before->active, Contains("tx-udp-segmentation"));

    const FeatureSettings settings{{"rx-gro-list", true}, {"tx-udp-segmentation", false}};
    EXPECT_EQ(missing(*before, settings), settings);
    const auto set = ethtool->set_features(eth1, settings);
    ASSERT_TRUE(set) << set.error().text;
    EXPECT_EQ(set->refused, FeatureSettings{});
    EXPECT_EQ(missing(set->now, settings), FeatureSettings{});
    EXPECT_THAT(set->now.wanted, Contains("rx-gro-list"));
    const auto shown = must(wires.host(), "ethtool -k eth1");
    EXPECT_THAT(shown, HasSubstr("rx-gro-list: on"));
    EXPECT_THAT(shown, HasSubstr("tx-udp-segmentation: off"));
}

TEST(Features, reports_missing_and_refused) {
    const Cabling wires(1, FarSide::open);
    const auto eth1 = index_of(wires.host(), "eth1");
    auto ethtool = wires.host().inside([] { return Ethtool::open(); });
    ASSERT_TRUE(ethtool);
    const FeatureSettings fixed{{"rx-vlan-filter", true}};
    const auto set = ethtool->set_features(eth1, fixed);
    ASSERT_TRUE(set) << set.error().text;
    EXPECT_EQ(set->refused, fixed);
    EXPECT_EQ(missing(set->now, fixed), fixed);
    const auto unknown = ethtool->set_features(eth1, {{"rx-telepathy", true}});
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().text, HasSubstr("bit name not found"));
    const auto missing = ethtool->read_features(IfIndex{99'999});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().number, ENODEV);
}

std::vector<MacAddress> unicast_list(const NetNs& in, std::string_view name) {
    const auto list = in.inside([&] { return read_unicast_list(index_of(in, name)); });
    if (!list) throw SetupError(list.error().text);
    return *list;
}

TEST(UnicastList, contains_only_macvlans_that_are_up) {
    const Cabling wires(2, FarSide::open);
    wires.host().ip("link set eth1 up\nlink set eth2 up\n"
                    "link add link eth1 name guest0 address 02:00:00:00:05:01 type macvlan\n"
                    "link add link eth2 name guest1 address 02:00:00:00:05:02 type macvlan");
    EXPECT_THAT(unicast_list(wires.host(), "eth1"), IsEmpty());
    wires.host().ip("link set guest0 up\nlink set guest1 up");
    EXPECT_THAT(unicast_list(wires.host(), "eth1"), ElementsAre(MacAddress{{2, 0, 0, 0, 5, 1}}));
    wires.host().ip("link del guest0");
    EXPECT_THAT(unicast_list(wires.host(), "eth1"), IsEmpty());
}

TEST(UnicastList, omits_addresses_learned_by_a_bridge) {
    const Cabling wires(1, FarSide::lag_switch);
    wires.host().ip("link add br9 type bridge\nlink set eth1 master br9 up\nlink set br9 up");
    must(wires.host(), "bridge fdb add 02:00:00:00:06:01 dev eth1 master static");
    EXPECT_THAT(unicast_list(wires.host(), "eth1"), IsEmpty());
}

} // namespace
} // namespace teamo::test
