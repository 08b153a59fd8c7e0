// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which device is which port, after devices were renamed or replaced and interface indexes were reused.
//
// lab: Renaming.* by team, 45 s, long
#include "netns/configs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <fstream>

namespace teamo::test {
namespace {

using testing::HasSubstr, testing::Not;

/// Two ports carry, and a place where devices can go.
struct Renaming : testing::Test {
    Cabling wires{2, FarSide::lag_switch};
    const std::string address1 = look(wires.host(), "eth1").address,
                      address2 = look(wires.host(), "eth2").address;
    TeamUnderTest team{loadbalance(2)};
    NetNs elsewhere = NetNs::create();

    Renaming() { bring_up(wires, team); }

    void rename(const std::string& from, const std::string& to) { test::rename(wires.host(), from, to); }
    std::string address_of(const char* device) { return look(wires.host(), device).address; }
    testing::AssertionResult transmits(const std::string& port) {
        return team.await_item(fmt::format("ports.{}.datapath.transmits", port), "true");
    }
};

TEST_F(Renaming, makes_room_for_a_new_device_of_the_name) {
    rename("eth2", "former");
    wires.add_cable(3);
    rename("eth3", "eth2");
    EXPECT_TRUE(transmits("eth2")) << "it is in the configuration";
    EXPECT_TRUE(transmits("former")) << "it is a port still";
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(address2, address_of("former")) << "as before it was a port";
}

TEST_F(Renaming, of_two_ports_keeps_their_cables_apart) {
    rename("eth1", "other");
    rename("eth2", "eth1");
    rename("other", "eth2");
    ASSERT_TRUE(team.await_link("eth2"));
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth2", false));
    EXPECT_THAT(team.log(), HasSubstr("port eth2 lost its link"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(address1, address_of("eth2"));
    EXPECT_EQ(address2, address_of("eth1"));
}

TEST_F(Renaming, leaves_a_port_its_settings_over_a_restart) {
    rename("eth2", "wan");
    ASSERT_TRUE(team.await_link("wan"));
    team.kill();
    team.start();
    EXPECT_TRUE(transmits("wan"));
    EXPECT_THAT(team.teamoctl({"config", "dump", "actual"}).out, HasSubstr("eth2"))
        << "its entry in the file";
}

TEST_F(Renaming, and_removing_a_port_holds_when_it_has_its_name_again) {
    rename("eth2", "wan");
    ASSERT_TRUE(team.await_link("wan"));
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "wan"}).status);
    rename("wan", "eth2");
    ASSERT_EQ(0, team.teamoctl({"config", "reload"}).status);
    EXPECT_EQ("", team.item("ports.eth2.link.up"));
    EXPECT_EQ(address2, address_of("eth2"));
}

TEST_F(Renaming, to_a_missing_port_does_not_undo_its_removal) {
    wires.host().ip("link del eth2");
    ASSERT_TRUE(team.await_item("ports.eth2.link.up", ""));
    wires.add_cable(3);
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth3"}).status);
    rename("eth3", "eth2");
    ASSERT_TRUE(team.await_link("eth2"));
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth2"}).status);
    EXPECT_EQ("", team.item("ports.eth2.link.up"));
    wires.pull(1);
    EXPECT_TRUE(team.await_link("eth1", false));
    EXPECT_EQ("", team.item("ports.eth2.link.up")) << "nor after another pass";
}

TEST_F(Renaming, in_another_namespace_does_not_hide_a_port_from_the_stop) {
    wires.host().ip("link set eth2 netns " + elsewhere.path());
    ASSERT_TRUE(team.await_item("ports.eth2.link.up", ""));
    elsewhere.ip("link set eth2 name later");
    elsewhere.ip("link set later netns " + wires.host().path());
    ASSERT_TRUE(eventually("the daemon has seen it", [&] { return team.answers(); }));
    EXPECT_EQ("", team.item("ports.later.link.up")) << "it is not in the configuration";
    team.kill();
    team.start();
    EXPECT_EQ("", team.item("ports.later.link.up")) << "nor for the next daemon";
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(address2, address_of("later")) << "as before it was a port";
}

/// A port that the configuration has by an alternative name of eth2.
struct AlternativeName : testing::Test {
    Cabling wires{2, FarSide::lag_switch};
    const std::string config = team_config(by_mac, ports_object({"eth1", "lan-b"}));
    void add(const char* name) {
        wires.host().ip(fmt::format("link property add dev eth2 altname {}", name));
    }
};

TEST_F(AlternativeName, is_a_name_of_the_port_for_all_commands) {
    add("lan-b");
    TeamUnderTest team(config);
    ASSERT_TRUE(team.await_link("eth2"));
    EXPECT_EQ("true", team.item("ports.lan-b.link.up"));
    for (const auto* name : {"eth2", "lan-b"}) {
        EXPECT_EQ(0, team.teamoctl({"port", "present", name}).status);
        EXPECT_EQ(0, team.teamdctl({"port", "config", "update", name, R"({"prio": 7})"}).status);
        EXPECT_THAT(team.teamdctl({"port", "config", "dump", name}).out, HasSubstr("7"));
        EXPECT_EQ(0, team.teamoctl({"port", "remove", name}, {"--dry-run"}).status);
    }
    EXPECT_THAT(team.teamdctl({"config", "dump"}).out, Not(HasSubstr("eth2"))) << "its entry is lan-b";
    for (const auto& [gone, back] : {std::pair("eth2", "lan-b"), std::pair("lan-b", "eth2")}) {
        ASSERT_EQ(0, team.teamdctl({"port", "remove", gone}).status);
        EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
        EXPECT_EQ("", team.item("ports.eth2.link.up")) << "a removal by " << gone << " holds";
        ASSERT_EQ(0, team.teamdctl({"port", "add", back}).status);
        EXPECT_TRUE(team.await_link("eth2"));
    }
    team.kill();
    team.start();
    EXPECT_THAT(team.teamoctl({"config", "dump", "actual"}).out, HasSubstr("lan-b")) << "after a restart";
}

TEST_F(AlternativeName, is_noticed_on_a_device_that_is_down) {
    const TeamUnderTest team(config);
    ASSERT_TRUE(team.await_link("eth1"));
    wires.host().ip("link set eth2 down");
    add("lan-b");
    EXPECT_TRUE(team.await_link("eth2"));
}

TEST_F(AlternativeName, is_refused_beside_the_name_of_the_same_device) {
    add("lan-b");
    TeamUnderTest team(config);
    ASSERT_TRUE(team.await_link("eth2"));
    const ConfigFile twice(team_config(by_mac, ports_object({"eth1", "eth2", "lan-b"})));
    EXPECT_THAT(team.teamoctl({"config", "reload", twice.path()}).err,
                HasSubstr("ports eth2 and lan-b: are one device, eth2"));
    wires.host().ip("link property del dev eth2 altname lan-b");
    ASSERT_EQ(0, team.teamoctl({"config", "reload", twice.path()}).status);
    add("lan-b");
    EXPECT_TRUE(eventually("the state says so", [&] {
        return team.teamoctl({"state", "dump"}).out.find("is another name of port eth2") != std::string::npos;
    }));
}

TEST_F(Renaming, of_the_team_is_followed_by_the_next_daemon) {
    rename("team0", "lan0");
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"-r"}}) {
        team.kill();
        team.start(options);
        EXPECT_TRUE(transmits("eth1") && transmits("eth2"));
        EXPECT_NE(options.empty(), exists(wires.host(), "team0")) << "-r makes it again";
        if (!options.empty()) wires.address();
        EXPECT_TRUE(reaches(wires.client(), team_v4));
    }
    EXPECT_EQ(0, team.stop());
    EXPECT_FALSE(exists(wires.host(), "lan0") || exists(wires.host(), "team0"));
}

/// The kernel's drivers do not let their devices move.
TEST_F(Renaming, and_moving_the_team_away_is_refused_by_the_next_daemon) {
    if (by_driver(wires) || by_bonding(wires)) GTEST_SKIP() << "the kernel refuses the move";
    team.kill();
    wires.host().ip("link set team0 netns " + elsewhere.path());
    // The move set it down, which the other end shows a moment later.
    EXPECT_TRUE(becomes(std::string("DOWN"), [&] { return look(wires.host(), "tmo0").operstate; }));
    const auto before = must(wires.host(), "ip -br link");
    const auto refused = daemon_on(loadbalance(2));
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err, HasSubstr("device team0 is in another network namespace"));
    EXPECT_EQ(before, must(wires.host(), "ip -br link")) << "what works there goes on";
    team.start({"-r"});
    EXPECT_TRUE(transmits("eth1") && transmits("eth2"));
    EXPECT_EQ(0, team.stop());
}

/// As after a move to another namespace and back while no daemon ran, when an index there was taken.
TEST_F(Renaming, is_not_what_a_reused_index_means) {
    team.kill();
    const std::string path = "/run/teamd-offload/team0.json";
    std::ifstream file(path);
    std::string journal{std::istreambuf_iterator<char>(file), {}};
    const auto entry = [&](const char* port) {
        return fmt::format(R"("ifindex": {})", look(wires.host(), port).index);
    };
    const auto one = entry("eth1"), two = entry("eth2");
    const auto at_one = journal.find(one + ","), at_two = journal.find(two + ",");
    ASSERT_NE(std::string::npos, at_one) << journal;
    ASSERT_NE(std::string::npos, at_two) << journal;
    ASSERT_EQ(one.size(), two.size());
    journal.replace(at_one, one.size(), two);
    journal.replace(at_two, two.size(), one);
    std::ofstream(path) << journal;
    team.start();
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_TRUE(transmits(port));
    for (const unsigned port : {1, 2}) {
        wires.pull(3 - port);
        EXPECT_TRUE(team.await_link(Cabling::port(3 - port), false));
        EXPECT_TRUE(
            eventually("packets pass by the other", [&] { return reaches(wires.host(), client_v4); }));
        wires.plug(3 - port);
        EXPECT_TRUE(team.await_link(Cabling::port(3 - port)));
    }
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(address1, address_of("eth1"));
    EXPECT_EQ(address2, address_of("eth2"));
}

} // namespace
} // namespace teamo::test
