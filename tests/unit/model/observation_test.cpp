// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/observation.h"

#include <gmock/gmock.h>

#include <linux/if.h>

namespace teamo {
namespace {

Link device(unsigned master, unsigned lower) {
    Link link;
    link.index = IfIndex{7};
    link.master = IfIndex{master};
    link.lower = IfIndex{lower};
    return link;
}

TEST(CarrierEvent, is_delayed_for_physical_device) { EXPECT_TRUE(events_are_late(device(0, 0))); }

TEST(CarrierEvent, is_delayed_if_peer_elsewhere_has_same_index) {
    auto veth = device(0, 7);
    veth.lower_elsewhere = true;
    EXPECT_TRUE(events_are_late(veth));
}

TEST(CarrierEvent, is_immediate_for_stacked_device) { EXPECT_FALSE(events_are_late(device(0, 6))); }

TEST(CarrierEvent, is_immediate_for_port_of_kernel_driver) { EXPECT_FALSE(events_are_late(device(5, 0))); }

TEST(CarrierEvent, is_unreported_while_device_without_carrier_is_running) {
    Link link;
    const auto is_unreported_with = [&link](unsigned flags) {
        link.flags = flags;
        return loss_is_pending(link);
    };
    EXPECT_TRUE(is_unreported_with(IFF_UP | IFF_RUNNING));
    EXPECT_FALSE(is_unreported_with(IFF_UP | IFF_RUNNING | IFF_LOWER_UP)) << "no loss";
    EXPECT_FALSE(is_unreported_with(IFF_UP)) << "already reported";
    EXPECT_FALSE(is_unreported_with(IFF_UP | IFF_LOWER_UP)) << "a return";
    EXPECT_FALSE(is_unreported_with(0));
}

} // namespace
} // namespace teamo
