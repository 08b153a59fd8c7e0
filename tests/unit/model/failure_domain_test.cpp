// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/failure_domain.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

SwitchPort by_lldp(const std::string& id, const std::string& port = "1") {
    return {.source = SwitchSource::lldp, .id = id, .name = {}, .port = port};
}

const FailureDomain one{.card = "0000:03:00", .root_port = "0000:00:1c.0", .node = 0, .at = by_lldp("a")};

TEST(FailureDomains, of_functions_of_a_card_are_its_own) {
    DevicePlace place{.address = "0000:03:02.1",
                      .path = {"0000:00:1c.0", "0000:01:00.0"},
                      .node = 1,
                      .physical = "0000:03:00.1"};
    EXPECT_EQ(domain_of(place),
              (FailureDomain{.card = "0000:03:00", .root_port = "0000:00:1c.0", .node = 1}));
    EXPECT_EQ(domain_of({}), FailureDomain{});
}

TEST(FailureDomains, share_only_what_is_known) {
    for (const auto part : all_domain_parts) {
        EXPECT_TRUE(shares(one, one, part)) << name_of(part);
        EXPECT_FALSE(shares({}, {}, part)) << name_of(part);
        EXPECT_FALSE(shares(one, {}, part)) << name_of(part);
    }
    auto other = one;
    other.at.source = SwitchSource::lacp;
    EXPECT_FALSE(shares(one, other, DomainPart::at)) << "known from different sources";
}

TEST(FailureDomains, are_compared_switch_first) {
    auto other_switch = one, other_card = one;
    other_switch.at = by_lldp("b");
    other_card.card = other_card.root_port = "other";
    EXPECT_LT(shared_parts(one, other_switch), shared_parts(one, other_card));
    EXPECT_LT(shared_parts(one, other_card), shared_parts(one, one));
}

TEST(FailureDomains, have_in_common_what_all_share) {
    auto same_switch = one;
    same_switch.card = "0000:04:00";
    same_switch.at.port = "2";
    const FailureDomain common{.root_port = "0000:00:1c.0", .node = 0, .at = by_lldp("a", "")};
    EXPECT_EQ(common_of(std::array{one, same_switch, one}), common);
    EXPECT_EQ(common_of(std::array{one}), FailureDomain{}) << "a port alone shares nothing";
    EXPECT_EQ(common_of(std::array{one, one, FailureDomain{}}), FailureDomain{}) << "of one nothing is known";
}

} // namespace
} // namespace teamo
