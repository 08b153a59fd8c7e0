// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/device_index.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Link indexed(std::uint32_t index, std::string name, std::uint32_t lower = 0) {
    Link link;
    link.index = IfIndex{index};
    link.name = std::move(name);
    link.lower = IfIndex{lower};
    return link;
}

TEST(DeviceIndex, finds_what_was_added_until_it_is_removed) {
    const MacAddress address{{2, 0, 0, 0, 0, 9}};
    auto eth = indexed(2, "eth1"), vlan = indexed(3, "eth1.5", 2), peer = indexed(4, "far", 2);
    eth.altnames = {"uplink"};
    eth.address = vlan.address = address;
    auto foreign = indexed(5, "guest", 2);
    foreign.lower_elsewhere = true; // the number is another device's, in another namespace
    DeviceIndex index;
    for (const auto* link : {&peer, &foreign, &vlan, &eth})
        index.add(*link);
    EXPECT_THAT(index.on(eth.index), ElementsAre(vlan.index, peer.index));
    EXPECT_THAT(index.on(IfIndex{}), IsEmpty());
    EXPECT_THAT(index.with(address), ElementsAre(eth.index, vlan.index));
    EXPECT_EQ(eth.index, index.named("eth1"));
    EXPECT_EQ(eth.index, index.named("uplink"));
    EXPECT_EQ(std::nullopt, index.named("eth"));
    // Until all events are read two can have one name.
    auto other = indexed(1, "eth1");
    index.add(other);
    EXPECT_EQ(other.index, index.named("eth1"));
    index.remove(other);
    EXPECT_EQ(eth.index, index.named("eth1"));
    for (const auto* link : {&eth, &vlan})
        index.remove(*link);
    EXPECT_THAT(index.on(eth.index), ElementsAre(peer.index));
    EXPECT_THAT(index.with(address), IsEmpty());
    EXPECT_EQ(std::nullopt, index.named("uplink"));
}

} // namespace
} // namespace teamo
