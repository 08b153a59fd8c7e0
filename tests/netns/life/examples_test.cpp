// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The examples in conf/ start as they are, with the datapath that each names.
//
// lab: Examples.* by team, 15 s, long
// lab: Examples.steer_* by bond on newest, 5 s
#include "netns/configs.h"
#include "netns/team_driver.h"
#include "support/daemon/lacp_partner.h"
#include "support/traffic/traffic.h"

#include <rapidjson/document.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace teamo::test {
namespace {

std::string read_example(const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// Returns how many examples were started: those with the runner lacp, or all others.
int start_examples(const Cabling& wires, bool by_lacp) {
    int examples = 0;
    for (const auto& example : std::filesystem::directory_iterator(TEAMO_SOURCE_DIR "/conf")) {
        if (example.path().extension() != ".json") continue;
        const auto text = read_example(example.path());
        rapidjson::Document document;
        if (document.Parse(text.c_str()).HasParseError()) throw std::runtime_error("no JSON: " + text);
        if (document.HasMember("attach")) continue; // a bond of another program: below
        const std::string_view runner = document["runner"]["name"].GetString();
        if ((runner == "lacp") != by_lacp) continue;
        SCOPED_TRACE(example.path().filename());
        ++examples;
        TeamUnderTest team(text);
        wires.host().ip("link set team0 up");
        for (const auto& port : document["ports"].GetObject()) {
            const std::string name = port.name.GetString();
            EXPECT_TRUE(team.await_link(name)) << name;
            if (runner == "activebackup") continue; // one port carries
            EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", name), "true"));
        }
        // The machines that slb is for are on a bridge.
        const bool is_below = runner == "slb";
        if (is_below)
            wires.host().ip("link add br0 type bridge forward_delay 0\nlink set team0 master br0\n"
                            "link set br0 up");
        wires.address(is_below ? "br0" : "team0");
        EXPECT_TRUE(reaches(wires.host(), client_v4));
        if (is_below) wires.host().ip("link del br0");
        EXPECT_EQ(0, team.stop());
    }
    return examples;
}

TEST(Examples, start_and_carry_with_all_their_ports) {
    const NoOptionsForAll options;
    const Cabling wires(4, FarSide::lag_switch);
    EXPECT_GT(start_examples(wires, false), 0);
}

TEST(Examples, start_and_carry_with_a_partner) {
    const NoOptionsForAll options;
    const Cabling wires(2, FarSide::open);
    const Partner partner(wires, {1, 2});
    partner.address();
    EXPECT_GT(start_examples(wires, true), 0);
}

TEST(Examples, steer_a_bond_that_is_there) {
    const NoOptionsForAll options;
    const Cabling wires(2, FarSide::lag_switch);
    if (!kernel_has_driver("bond")) GTEST_SKIP() << "this kernel has no bonding";
    wires.host().ip("link add bond0 type bond mode balance-xor miimon 20\nlink set eth1 master bond0\n"
                    "link set eth2 master bond0\nlink set bond0 up");
    TeamUnderTest team(read_example(TEAMO_SOURCE_DIR "/conf/bond.json"), {}, "bond0");
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", port), "true"));
    EXPECT_TRUE(team.await_item("attached.steered", "true"));
    wires.address("bond0");
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_EQ(0, team.stop());
    EXPECT_TRUE(exists(wires.host(), "bond0"));
}

} // namespace
} // namespace teamo::test
