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

using testing::HasSubstr;

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
