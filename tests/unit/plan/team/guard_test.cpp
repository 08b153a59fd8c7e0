// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/team/guard_plan.h"

#include <gmock/gmock.h>
#include <linux/if.h>

namespace teamo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

MacAddress mac(std::uint8_t last) { return {{2, 0, 0, 0, 0, last}}; }

struct GuardPlanned : testing::Test {
    Links links;
    GuardSight sight{.addresses = {*parse_ip("10.0.0.1")}};
    std::size_t limit = 100;

    GuardPlanned() {
        add(1, "team0", "veth", 0);
        add(2, "eth1", "", 0);
    }
    Link& add(std::uint32_t index, const char* name, const char* kind, std::uint32_t lower) {
        auto& link = links[IfIndex{index}];
        link.index = IfIndex{index};
        link.name = name;
        link.kind = kind;
        link.lower = IfIndex{lower};
        link.address = mac(static_cast<std::uint8_t>(index));
        return link;
    }
    GuardPlan plan(GuardMode mode = GuardMode::full) const {
        return plan_guard(mode, links, IfIndex{1}, {IfIndex{2}}, sight, limit);
    }
    void steps_aside(const char* why) const {
        EXPECT_THAT(plan().aside, HasSubstr(why));
        EXPECT_EQ(GuardTables{}, plan().tables);
    }
};

TEST_F(GuardPlanned, knows_the_addresses_of_everything_on_the_team) {
    add(3, "team0.7", "vlan", 1).vlan = 7;
    add(4, "guest0", "macvlan", 3);
    add(5, "vx0", "vxlan", 1);
    add(6, "other", "macvlan", 9);
    sight.hardware = {mac(4), *multicast_mac(*parse_ip("239.1.2.3"))};
    links.at(IfIndex{1}).promiscuity = 1; // a pair device is promiscuous for its first address
    const auto planned = plan();
    EXPECT_THAT(planned.aside, IsEmpty());
    EXPECT_EQ(GuardMode::full, planned.tables.mode);
    EXPECT_EQ((std::set<std::uint16_t>{7}), planned.tables.vlans);
    EXPECT_EQ((std::set<MacAddress>{mac(1), mac(2), mac(3), mac(4), mac(5), sight.hardware[1]}),
              planned.tables.macs);
    EXPECT_EQ(sight.addresses, planned.tables.addresses);
    EXPECT_EQ(GuardPlan{}, plan(GuardMode::off));
}

TEST_F(GuardPlanned, steps_aside_for_devices_that_carry_for_others) {
    add(3, "br0", "bridge", 0);
    add(4, "team0.7", "vlan", 1).master = IfIndex{3};
    steps_aside("team0.7 is a port of br0");
    links.at(IfIndex{3}).kind = "vrf";
    EXPECT_THAT(plan().aside, IsEmpty());
    links.at(IfIndex{4}).master = IfIndex{99};
    steps_aside("another device");
    links.erase(IfIndex{4});
    add(5, "tap0", "macvtap", 1);
    steps_aside("tap0 of kind macvtap");
}

TEST_F(GuardPlanned, lets_a_port_have_the_team_as_its_master) {
    links.at(IfIndex{2}).master = IfIndex{1};
    EXPECT_THAT(plan().aside, IsEmpty());
}

TEST_F(GuardPlanned, steps_aside_for_what_it_cannot_know) {
    sight.hardware = {mac(77)};
    links.at(IfIndex{1}).promiscuity = 1;
    steps_aside("02:00:00:00:00:4d");
    sight.hardware.clear();
    steps_aside("promiscuous");
    links.at(IfIndex{1}).promiscuity = 0;
    links.at(IfIndex{1}).flags = IFF_ALLMULTI;
    steps_aside("groups");
    links.at(IfIndex{1}).flags = 0;
    sight.proxies = true;
    steps_aside("proxy");
    sight.proxies = false;
    sight.local_network = parse_ip("192.0.2.0");
    steps_aside("192.0.2.0");
    sight.local_network = {};
    sight.failure = "no memory";
    steps_aside("no memory");
    sight.failure.clear();
    limit = 1;
    steps_aside("more than 1 addresses");
}

} // namespace
} // namespace teamo
