// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/bonding.h"

#include <gtest/gtest.h>

namespace teamo::lacp {
namespace {

constexpr std::uint8_t whole = 0x3f, unheard = 0x47, timed_out = 0x8f;
constexpr MacAddress switch_address{{2, 0, 0, 0, 0, 9}};

BondSystem some_bond() {
    return {.actor = {.priority = 100, .address = MacAddress{{2, 0, 0, 0, 0, 1}}},
            .aggregator = 3,
            .actor_key = 15,
            .partner_key = 7,
            .partner = switch_address};
}

PortStatus bonded(const BondPort& port, bool has_link, bool carries) {
    return status_of(some_bond(), port, has_link, carries);
}

TEST(BondLacp, of_a_port_that_carries) {
    const auto port = bonded({.aggregator = 3, .actor_state = whole, .partner_state = whole}, true, true);
    EXPECT_EQ("current", port.state);
    EXPECT_EQ("distributing", port.mux);
    EXPECT_EQ("fast_periodic", port.periodic);
    EXPECT_TRUE(port.selected);
    EXPECT_EQ(3U, port.aggregator);
    EXPECT_EQ(100, port.actor.system.priority);
    EXPECT_EQ(15, port.actor.key);
    EXPECT_EQ(7, port.partner.key);
    EXPECT_EQ(switch_address, port.partner.system.address);
    EXPECT_EQ("", port.reason);
}

TEST(BondLacp, says_why_a_port_does_not_carry) {
    using enum NotSelected;
    const auto why = [](const BondPort& port, bool has_link = true) {
        return bonded(port, has_link, false).not_selected;
    };
    EXPECT_EQ(no_link, why({.aggregator = 3, .actor_state = whole}, false));
    EXPECT_EQ(held, why({.aggregator = 3, .actor_state = whole, .partner_state = whole}));
    EXPECT_EQ(partner_silent, why({.aggregator = 3, .actor_state = unheard}));
    EXPECT_EQ(partner_silent, why({.aggregator = 3, .actor_state = timed_out}));
    EXPECT_EQ(individual, why({.aggregator = 3, .actor_state = 0x0f, .partner_state = 0x01}));
    EXPECT_EQ(other_policy, why({.aggregator = 2, .actor_state = 0x0f, .partner_state = whole}));
    EXPECT_EQ(out_of_sync, why({.aggregator = 3, .actor_state = 0x0f, .partner_state = 0x07}));
    EXPECT_EQ(not_collecting, why({.aggregator = 3, .actor_state = 0x0f, .partner_state = 0x0f}));
    EXPECT_NE("", bonded({.aggregator = 3, .actor_state = timed_out}, true, false).reason);
    // That of an aggregator that is not used the kernel does not tell.
    EXPECT_TRUE(
        bonded({.aggregator = 2, .partner_state = whole}, true, false).partner.system.address.is_zero());
}

/// Without lacp_strict bonding lets one carry.
TEST(BondLacp, calls_a_port_without_a_partner_that_carries_a_fallback) {
    const auto port = bonded({.aggregator = 3, .actor_state = unheard}, true, true);
    EXPECT_EQ("fallback", port.state);
    EXPECT_TRUE(port.fallback);
    EXPECT_EQ("defaulted", port.receive);
    EXPECT_EQ("defaulted", bonded({.aggregator = 3, .actor_state = unheard}, true, false).state);
}

} // namespace
} // namespace teamo::lacp
