// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The examples in conf/ start as they are, with the datapath that each names.
//
// lab: Examples.* by team, 15 s, long
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
        if (document.HasMember("attach")) continue; // a bond of another program (attach_test.cpp)
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
        wires.address();
        EXPECT_TRUE(reaches(wires.host(), client_v4));
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

} // namespace
} // namespace teamo::test
