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

TEST(News, come_late_from_a_card) { EXPECT_TRUE(news_are_late(device(0, 0))); }

TEST(News, come_late_from_a_device_whose_other_end_has_its_number) {
    auto veth = device(0, 7);
    veth.lower_elsewhere = true;
    EXPECT_TRUE(news_are_late(veth));
}

TEST(News, come_at_once_from_what_stands_on_another_device) { EXPECT_FALSE(news_are_late(device(0, 6))); }

TEST(News, come_at_once_from_a_port_of_the_kernels_driver) { EXPECT_FALSE(news_are_late(device(5, 0))); }

TEST(Loss, is_untold_while_a_device_without_carrier_is_in_operation) {
    Link link;
    const auto is_untold_with = [&link](unsigned flags) {
        link.flags = flags;
        return loss_is_untold(link);
    };
    EXPECT_TRUE(is_untold_with(IFF_UP | IFF_RUNNING));
    EXPECT_FALSE(is_untold_with(IFF_UP | IFF_RUNNING | IFF_LOWER_UP)) << "no loss";
    EXPECT_FALSE(is_untold_with(IFF_UP)) << "told";
    EXPECT_FALSE(is_untold_with(IFF_UP | IFF_LOWER_UP)) << "a return";
    EXPECT_FALSE(is_untold_with(0));
}

} // namespace
} // namespace teamo
