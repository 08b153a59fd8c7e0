// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the guard makes of a neighbour's MAC address in ARP requests for other hosts.
#include "guard_fixture.h"

#include <fmt/format.h>

namespace teamo::test {
namespace {

TEST_F(Guard, hears_of_a_new_mac_address_in_a_request_for_another_host) {
    const auto asks = [](const MacAddress& sender, const char* from = "10.0.0.2", std::uint16_t vlan = 0) {
        const auto request = arp_request(sender, from, "10.0.0.9");
        const std::string bytes(reinterpret_cast<const char*>(request.data()) + 14, request.size() - 14);
        return tagged(all, sender, vlan, ether_arp, bytes);
    };
    const auto age = [&] {
        forget_told();
        forget_repeated();
    };
    const auto before = neighbour, after = neighbour + 1;
    for (const auto mode : {GuardMode::arp, GuardMode::full}) {
        program = std::move(*GuardProgram::load());
        ASSERT_TRUE(program.drop_until(Clock::now() + std::chrono::hours(1)));
        tables.mode = mode;
        tables.vlans = {7};
        EXPECT_TRUE(passes(asks(before))) << "the kernel may know another";
        EXPECT_EQ(0U, passing(20, asks(before)));
        EXPECT_TRUE(passes(asks(after)));
        EXPECT_EQ(0U, passing(20, asks(after)));
        EXPECT_TRUE(passes(asks(before, "10.0.0.2", 7))) << "a neighbour of another VLAN";
        EXPECT_EQ(0U, passing(20, asks(after)));
        // It moves by an announcement, and back by a request.
        EXPECT_TRUE(passes(arp_request(before, "10.0.0.2", "10.0.0.2")));
        EXPECT_TRUE(passes(asks(after)));
        EXPECT_TRUE(passes(arp_request(before, "10.0.0.2", "10.0.0.1")));
        EXPECT_TRUE(passes(asks(after)));
        EXPECT_TRUE(passes(arp_frame({.mac = before}, {.operation = 2,
                                                       .sender = *parse_ip("10.0.0.2"),
                                                       .target_mac = ours,
                                                       .target = *parse_ip("10.0.0.1")})));
        EXPECT_TRUE(passes(asks(after)));
        EXPECT_EQ(0U, passing(20, asks(after)));
        age();
        EXPECT_TRUE(passes(asks(after))) << "told again";
        EXPECT_EQ(0U, passing(20, asks(after)));
        EXPECT_EQ(5U, passing(5, asks(before, "10.0.0.1"))) << "another host has our address";
    }
}

TEST_F(Guard, judges_again_what_differs_from_a_request_that_was_dropped) {
    const auto dropped_before = [&] { EXPECT_EQ(0U, passing(5, asks_for("10.0.0.9"))); };
    dropped_before();
    EXPECT_TRUE(passes(asks_for("10.0.0.1")));
    EXPECT_TRUE(passes(asks_for("10.0.0.2"))) << "an announcement";
    EXPECT_TRUE(passes(asks_for("10.0.0.9", "10.0.0.3"))) << "another sender";
    EXPECT_TRUE(passes(asks_for("10.0.0.9", "10.0.1.2"))) << "another sender of the same slot";
    dropped_before();
    auto of_another_mac = asks_for("10.0.0.9");
    of_another_mac.at(22 + 5) = std::byte{9}; // only as ARP says
    EXPECT_TRUE(passes(of_another_mac));
    EXPECT_TRUE(passes(asks_for("10.0.0.9"))) << "it moved meanwhile";
    dropped_before();
    auto by_another = asks_for("10.0.0.9"); // the same for ARP
    std::ranges::copy(std::as_bytes(std::span(ours.bytes)), by_another.begin() + 6);
    EXPECT_TRUE(passes(by_another)) << "from ourselves: seen by another port";
    dropped_before();
    EXPECT_TRUE(passes(tagged(all, neighbour, 7, ether_arp, "a frame that is no request"))) << "a VLAN";

    tables.addresses.insert(*parse_ip("10.0.0.9"));
    EXPECT_TRUE(passes(asks_for("10.0.0.9"))) << "now ours";
    tables.addresses.erase(*parse_ip("10.0.0.9"));
    dropped_before();
    tables.macs.insert(neighbour);
    EXPECT_TRUE(passes(asks_for("10.0.0.9"))) << "from ourselves";
    tables.macs.erase(neighbour);
    dropped_before();
    tables.mode = GuardMode::off;
    EXPECT_TRUE(passes(asks_for("10.0.0.9")));
    tables.mode = GuardMode::arp;
    dropped_before();
    const auto counted = count(TEAMO_GUARD_BY_ARP);
    EXPECT_EQ(0U, passing(7, asks_for("10.0.0.9")));
    EXPECT_EQ(counted + 7, count(TEAMO_GUARD_BY_ARP));
    EXPECT_TRUE(program.drop_until(Clock::now() - std::chrono::seconds(1)));
    EXPECT_TRUE(passes(asks_for("10.0.0.9"))) << "nobody keeps the addresses up to date";
}

TEST_F(Guard, drops_by_the_last_request_of_a_sender_for_a_second) {
    EXPECT_EQ(0U, passing(2, asks_for("10.0.0.9")));
    forget_told();
    EXPECT_EQ(0U, passing(2, asks_for("10.0.0.9")));
    EXPECT_EQ(0U, passing(2, asks_for("10.0.0.8"))) << "for another host";
    forget_repeated();
    EXPECT_TRUE(passes(asks_for("10.0.0.9"))) << "judged again: the stack was told long ago";
}

TEST_F(Guard, limits_new_mac_addresses_in_requests_for_other_hosts) {
    for (const auto mode : {GuardMode::arp, GuardMode::full}) {
        tables.mode = mode;
        tables.rate_by_sender = 10;
        unsigned came = 0;
        for (int last = 1; last <= 200; ++last)
            came +=
                passes(asks_for("10.0.0.9", fmt::format("10.1.{}.{}", static_cast<int>(mode), last).c_str()))
                    ? 1
                    : 0;
        EXPECT_LE(came, 100U);
    }
    EXPECT_GE(count(TEAMO_GUARD_BY_ARP), 200U);
    // What was not let through is new the next time.
    tables.rate_by_sender = 0;
    EXPECT_TRUE(passes(asks_for("10.0.0.9", "10.1.2.200")));
    EXPECT_FALSE(passes(asks_for("10.0.0.9", "10.1.2.200")));
}

} // namespace
} // namespace teamo::test
