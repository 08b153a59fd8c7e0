// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The addresses, routes and neighbours of a device become those of another one (teamoctl replace).
//
// lab: IpSettings.* by none: no team is made
#include "kernel/netlink/ip_settings.h"
#include "support/daemon/process.h"
#include "support/net/links.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class IpSettings : public testing::Test {
protected:
    IpSettings() {
        host_.ip("link add dev old type veth peer name far1\n"
                 "link add dev new type veth peer name far2\n"
                 "link set far1 up\nlink set far2 up\nlink set old up\nlink set new up\n"
                 "addr add 10.1.0.1/24 dev old\n"
                 "addr add 10.1.0.9/24 dev old label old:x\n"
                 "addr add fd01::1/64 dev old nodad\n"
                 "neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev old nud permanent\n"
                 "route add default via 10.1.0.2 dev old metric 50\n"
                 "route add 10.2.0.0/16 via 10.1.0.2 dev old src 10.1.0.9 table 100\n"
                 "route add 10.3.0.0/24 nexthop via 10.1.0.2 dev old weight 2 nexthop via 10.1.0.3 dev old\n"
                 "route add fd02::/64 via fd01::2 dev old metric 7\n"
                 "route add fd03::/64 nexthop via fd01::2 dev old nexthop via fd01::3 dev old\n"
                 "route add ::/0 via fd01::2 dev old pref high\n");
        await_operation(host_, "old");
        await_operation(host_, "new");
    }
    /// All routes over a device, without those that the kernel makes for its own addresses.
    std::string routes(const std::string& device) const {
        return sh(host_,
                  fmt::format(
                      "for family in -4 -6; do ip $family route show table all; done | "
                      "grep -E ' dev {}( |$)' | grep -vE '^(local|broadcast|multicast|anycast|fe80)' | "
                      "sed 's/ dev {} / dev X /g; s/ linkdown//' | sort",
                      device, device))
            .out;
    }
    IfIndex index(const std::string& device) const { return IfIndex{look(host_, device).index}; }
    Result<> move(const std::string& from, const std::string& to) const {
        return host_.inside([&]() -> Result<> {
            const auto settings = TEAMO_TRY(teamo::IpSettings::read(index(from)));
            TEAMO_TRY(settings.copy_addresses(index(to)));
            return settings.move_routes(index(to));
        });
    }
    const NetNs host_ = NetNs::create();
};

TEST_F(IpSettings, become_those_of_another_device) {
    const auto before = routes("old");
    ASSERT_THAT(before, HasSubstr("10.2.0.0/16 via 10.1.0.2"));
    const auto moved = move("old", "new");
    ASSERT_TRUE(moved) << moved.error().text;
    EXPECT_EQ(before, routes("new"));
    EXPECT_THAT(routes("old"), IsEmpty());
    const auto addresses = must(host_, "ip -o addr show dev new");
    for (const auto* address : {"10.1.0.1/24", "10.1.0.9/24", "fd01::1/64"})
        EXPECT_THAT(addresses, HasSubstr(address));
    EXPECT_THAT(addresses, Not(HasSubstr("tentative")));
    EXPECT_THAT(must(host_, "ip neigh show dev new"),
                HasSubstr("10.1.0.2 lladdr 02:00:00:00:00:02 PERMANENT"));
    // As when the bond is removed.
    host_.ip("link del old");
    EXPECT_EQ(before, routes("new"));
    EXPECT_THAT(must(host_, "ip route get 10.3.0.1"), HasSubstr(" dev new "));
}

TEST_F(IpSettings, leave_the_same_routes_over_other_devices) {
    host_.ip("link add dev other type veth peer name far3\nlink set far3 up\nlink set other up\n"
             "addr add 10.1.0.5/24 dev other\naddr add fd01::5/64 dev other nodad\n"
             "route append default via 10.1.0.7 dev other metric 50\n"
             "route append default via 10.1.0.3 dev old metric 50\n");
    await_operation(host_, "other");
    const auto others = routes("other"), before = routes("old");
    ASSERT_TRUE(move("old", "new"));
    EXPECT_EQ(before, routes("new"));
    EXPECT_EQ(others, routes("other"));
    ASSERT_TRUE(move("new", "old"));
    EXPECT_EQ(before, routes("old"));
    EXPECT_EQ(others, routes("other"));
}

TEST_F(IpSettings, of_nexthop_objects_become_routes_of_the_device) {
    host_.ip("nexthop add id 7 via 10.1.0.2 dev old\nroute add 10.7.0.0/24 nhid 7\n");
    ASSERT_TRUE(move("old", "new"));
    EXPECT_THAT(must(host_, "ip route show 10.7.0.0/24"), HasSubstr("10.7.0.0/24 via 10.1.0.2 dev new"));
}

TEST_F(IpSettings, go_back) {
    const auto before = routes("old");
    ASSERT_TRUE(move("old", "new"));
    ASSERT_TRUE(move("new", "old"));
    EXPECT_EQ(before, routes("old"));
    EXPECT_THAT(routes("new"), IsEmpty());
}

} // namespace
} // namespace teamo::test
