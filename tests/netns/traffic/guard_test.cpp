// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The guard drops frames that nobody on this host wants, and nothing else.
//
// lab: Guarded.tells_* by bpf on newest, 4 s
// lab: Guarded.* by team on 6.12, 20 s, long
// lab: Guarded.* by bond on 6.12, 20 s, long
#include "kernel/netlink/local_routes.h"
#include "netns/configs.h"
#include "support/net/programs.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"
#include "watch/probe_frames.h"

#include <gmock/gmock.h>

#include <linux/rtnetlink.h>

#include <fstream>
#include <thread>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string guarded(std::string_view mode, std::string_view runner = by_flow) {
    auto config = team_config(runner, ports_object(2));
    return config.insert(1, fmt::format(R"("guard": "{}", )", mode));
}

class Guarded : public testing::Test {
protected:
    void start(std::string_view mode, std::string_view runner = by_flow) {
        team_.emplace(guarded(mode, runner));
        bring_up(wires_, *team_);
        EXPECT_TRUE(reaches(wires_.client(), team_v4));
        EXPECT_TRUE(reaches(wires_.client(), team_v6));
    }
    void reload(const std::string& config) const {
        std::ofstream(team_->item("setup.config_file")) << config;
        const auto done = team_->teamoctl({"config", "reload"});
        EXPECT_EQ(0, done.status) << done.err;
    }
    /// Requests for another host, sent by the client; those of them that the guard drops within `patience`.
    std::uint64_t dropped_of(unsigned requests, milliseconds patience = long_enough) const {
        const PacketSocket from(wires_.client(), "client0");
        const auto before = dropped();
        for (unsigned time = 0; time < requests + 2;
             ++time) // one tells the sender's MAC address, now and then
            from.send(arp_request(mac("02:00:00:00:07:07"), "10.0.0.77", "10.0.0.99"));
        static_cast<void>(eventually("", [&] { return dropped() >= before + requests; }, patience));
        return dropped() - before;
    }
    std::uint64_t dropped() const { return std::stoull(team_->item("guard.dropped.arp_request")); }
    std::string aside() const { return team_->item("guard.aside"); }
    testing::AssertionResult steps_aside() const {
        return eventually("the guard steps aside", [this] { return !aside().empty(); });
    }
    testing::AssertionResult drops_again() const {
        return eventually("the guard drops again", [this] { return aside().empty(); });
    }
    std::string filters() const {
        return our_programs(wires_.host(), "eth1") + our_programs(wires_.host(), "eth2");
    }

    const Cabling wires_{2, FarSide::lag_switch};
    std::optional<TeamUnderTest> team_;
};

TEST_F(Guarded, drops_requests_for_other_hosts) {
    start("arp");
    EXPECT_GE(dropped_of(20), 20U);
    EXPECT_TRUE(carries_tcp(wires_.client(), wires_.host(), team_v4, 2'000'000));
    const auto shown = team_->teamoctl({"guard"}).out;
    EXPECT_THAT(shown, HasSubstr("ARP requests for other hosts"));
    EXPECT_THAT(shown, Not(HasSubstr("drops nothing")));
    EXPECT_THAT(team_->teamoctl({"guard"}, {"--json"}).out, HasSubstr(R"("mode": "arp")"));
    EXPECT_THAT(team_->teamoctl({"metrics"}).out,
                HasSubstr("teamd_offload_guard_dropped_total{team=\"team0\"}"));
}

TEST_F(Guarded, knows_a_new_address_at_once) {
    start("full");
    wires_.host().ip("addr add 10.0.0.99/24 dev team0\naddr add fd00::99/64 dev team0 nodad");
    wires_.host().ip("addr add 10.0.0.98/32 dev lo"); // Linux answers for it on each device
    for (const auto* address : {"10.0.0.99", "fd00::99", "10.0.0.98"})
        EXPECT_TRUE(reaches(wires_.client(), address)) << address;
    wires_.host().ip("link set team0 address 02:00:00:00:09:09");
    EXPECT_TRUE(eventually("the team is reached at its new MAC address", [this] {
        wires_.client().ip("neigh flush dev client0");
        return reaches(wires_.client(), team_v4);
    }));
    wires_.host().ip("addr del 10.0.0.99/24 dev team0");
    EXPECT_TRUE(
        eventually("a former address is another host's", [this] { return dropped_of(5, 100ms) >= 5; }));
}

TEST_F(Guarded, knows_a_local_route_before_its_next_poll) {
    start("full");
    const PacketSocket neighbour(wires_.client(), "client0");
    const auto answers = [&](const std::string& address) {
        return eventually("the host answers", [&] {
            neighbour.send(arp_request(mac("02:00:00:00:07:07"), "10.0.0.77", address));
            return neighbour
                .await(
                    [&](const Seen& seen) {
                        const auto read = parse_arp(seen.frame);
                        return read && read->is_reply && text_of(read->sender) == address;
                    },
                    10ms)
                .has_value();
        });
    };
    // By a poll of each second, each but the first would take nearly a second.
    std::vector<milliseconds> times;
    for (unsigned last = 90; last < 96; ++last) {
        const auto address = fmt::format("10.0.0.{}", last);
        const auto begin = SteadyClock::now(); // just after a poll, if only polls read the routes
        wires_.host().ip(fmt::format("route add local {}/32 dev lo", address));
        EXPECT_TRUE(answers(address)) << address;
        times.push_back(since(begin));
    }
    std::ranges::sort(times.begin() + 1, times.end());
    EXPECT_LT(times[3], 500ms) << "the median without the first";
}

/// The kernel has the tag beside the frame when the guard sees it.
TEST_F(Guarded, tells_a_neighbour_of_a_vlan_from_one_that_repeats_itself_without) {
    start("arp");
    if (sh(wires_.host(), "ip link add link team0 name team0.7 up type vlan id 7").status != 0)
        GTEST_SKIP() << "this kernel has no VLAN devices (8021q)";
    const PacketSocket from(wires_.client(), "client0");
    const auto ask = [&](const char* sender, bool in_vlan) {
        const auto from_mac = mac("02:00:00:00:07:07");
        const auto request = arp_request(from_mac, sender, "10.0.0.99");
        const std::string bytes(reinterpret_cast<const char*>(request.data()) + 14, request.size() - 14);
        from.send(in_vlan ? tagged(broadcast_mac, from_mac, 7, ether_arp, bytes) : request);
    };
    const auto drops = [&](const char* sender, bool in_vlan) {
        const auto before = dropped();
        return eventually("requests are dropped", [&] {
            ask(sender, in_vlan);
            return dropped() >= before + 2;
        });
    };
    ASSERT_TRUE(drops("10.0.0.78", true)) << "it does not know the VLAN";
    ASSERT_TRUE(drops("10.0.0.77", false));
    auto before = dropped();
    ASSERT_TRUE(eventually("all have come", [&] {
        before = dropped();
        return bool{stays("no more", [&] { return dropped() == before; }, 300ms)};
    }));
    ask("10.0.0.77", true); // the kernel's table of neighbours has one for each device
    ask("10.0.0.77", true);
    EXPECT_TRUE(eventually("the second is dropped", [&] { return dropped() > before; }));
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(before + 1, dropped());
}

TEST(LocalRoutes, are_the_only_routes_that_the_guard_hears_of) {
    const auto host = NetNs::create();
    auto events = host.inside([] { return NetlinkSocket::listen(NETLINK_ROUTE, {RTNLGRP_IPV4_IFADDR}); });
    ASSERT_TRUE(events && listen_to_local_routes(*events));
    host.ip("route add 192.0.2.0/24 dev lo\nroute add local 192.0.2.1/32 dev lo\n"
            "route add broadcast 192.0.2.255/32 dev lo table local\n"
            "route add 2001:db8::/64 dev lo\nroute add local 2001:db8::1/128 dev lo\n"
            "route del 192.0.2.0/24 dev lo\nroute del local 192.0.2.1/32 dev lo\n"
            "addr add 192.0.2.7/32 dev lo");
    std::vector<std::pair<int, std::string>> heard;
    EXPECT_TRUE(events->receive([&heard](const nlmsghdr* message) {
        const auto route = parse_local_route(message);
        heard.emplace_back(message->nlmsg_type, route ? text_of(route->to) : "");
    }));
    using Heard = std::pair<int, std::string>;
    EXPECT_THAT(heard,
                testing::UnorderedElementsAre(Heard(RTM_NEWROUTE, "192.0.2.1"),
                                              Heard(RTM_NEWROUTE, "2001:db8::1"), Heard(RTM_DELROUTE, ""),
                                              Heard(RTM_NEWROUTE, "192.0.2.7"), Heard(RTM_NEWADDR, "")));
}

TEST_F(Guarded, stops_a_neighbour_that_announces_itself_without_end) {
    start("full");
    const PacketSocket neighbour(wires_.client(), "client0");
    const auto announcement = arp_request(mac("02:00:00:00:07:07"), "10.0.0.77", "10.0.0.77");
    EXPECT_TRUE(eventually("announcements are dropped", [&] {
        for (unsigned time = 0; time < 1000; ++time)
            neighbour.send(announcement);
        return team_->item("guard.dropped.sender") != "0";
    }));
    wires_.client().ip("neigh flush dev client0");
    EXPECT_TRUE(reaches(wires_.client(), team_v4));
}

TEST_F(Guarded, steps_aside_for_a_bridge_and_a_macvlan_of_a_container) {
    start("full");
    wires_.host().ip("link add bridge0 type bridge\nlink set team0 master bridge0");
    EXPECT_TRUE(steps_aside());
    EXPECT_THAT(aside(), HasSubstr("team0 is a port of bridge0"));
    EXPECT_EQ(0U, dropped_of(5, 100ms));
    EXPECT_THAT(team_->teamoctl({"guard"}).out, HasSubstr("drops nothing now: team0 is a port of bridge0"));
    wires_.host().ip("link set team0 nomaster");
    EXPECT_TRUE(drops_again());
    EXPECT_GE(dropped_of(5), 5U);

    const auto container = NetNs::create();
    wires_.host().ip("link add link team0 name guest0 type macvlan mode bridge\nlink set guest0 up");
    EXPECT_TRUE(
        eventually("the daemon has seen it", [this] { return look(wires_.host(), "eth1").promiscuity > 0; }));
    EXPECT_THAT(aside(), IsEmpty()) << "a macvlan of this namespace is known";
    wires_.host().ip(fmt::format("link set guest0 netns {}", container.path()));
    container.ip("addr add 10.0.0.3/24 dev guest0\nlink set guest0 up");
    EXPECT_TRUE(steps_aside());
    EXPECT_TRUE(reaches(wires_.client(), "10.0.0.3"));
}

TEST_F(Guarded, steps_aside_while_the_host_answers_for_others) {
    start("arp");
    wires_.host().ip("neigh add proxy 10.0.0.50 dev team0");
    EXPECT_TRUE(steps_aside());
    wires_.host().ip("neigh del proxy 10.0.0.50 dev team0");
    EXPECT_TRUE(drops_again());
    wires_.host().ip("route add local 192.0.2.0/24 dev lo");
    EXPECT_TRUE(steps_aside());
    EXPECT_THAT(aside(), HasSubstr("192.0.2.0"));
    wires_.host().ip("route del local 192.0.2.0/24 dev lo");
    EXPECT_TRUE(drops_again());
    must(wires_.host(), "echo 1 > /proc/sys/net/ipv4/conf/team0/proxy_arp");
    EXPECT_TRUE(steps_aside());
}

TEST_F(Guarded, is_switched_on_and_off_by_a_reload) {
    start("off", R"({"name": "activebackup"})");
    EXPECT_THAT(filters(), Not(HasSubstr("teamo_guard")));
    EXPECT_THAT(team_->teamoctl({"guard"}).out, HasSubstr("the guard is off"));
    reload(guarded("arp", R"({"name": "activebackup"})"));
    EXPECT_THAT(filters(), HasSubstr("teamo_guard"));
    EXPECT_GE(dropped_of(5), 5U);
    EXPECT_TRUE(reaches(wires_.client(), team_v4));
    reload(guarded("off", R"({"name": "activebackup"})"));
    EXPECT_THAT(filters(), Not(HasSubstr("teamo_guard")));
    EXPECT_TRUE(reaches(wires_.client(), team_v4));
    reload(guarded("full", R"({"name": "activebackup"})"));
    team_->stop();
    EXPECT_THAT(must(wires_.host(), "tc qdisc show dev eth1; tc qdisc show dev eth2"),
                Not(HasSubstr("clsact")));
}

TEST_F(Guarded, is_taken_over_by_the_next_daemon) {
    start("full");
    team_->kill();
    EXPECT_THAT(filters(), HasSubstr("teamo_guard"));
    EXPECT_TRUE(reaches(wires_.client(), team_v4));
    team_->start();
    EXPECT_GE(dropped_of(5), 5U);
}

/// With the kernel's drivers only the guard has filters with the runner activebackup.
TEST_F(Guarded, comes_back_if_another_program_removes_it) {
    start("full", R"({"name": "activebackup"})");
    remove_our_programs(wires_.host(), "eth1");
    remove_our_programs(wires_.host(), "eth2");
    EXPECT_TRUE(eventually("the guard is on both ports again", [this] {
        return our_programs(wires_.host(), "eth1").find("teamo_guard") != std::string::npos &&
               our_programs(wires_.host(), "eth2").find("teamo_guard") != std::string::npos;
    }));
    EXPECT_GE(dropped_of(5), 5U);
}

} // namespace
} // namespace teamo::test
