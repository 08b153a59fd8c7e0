// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The examples in conf/ start as they are, with the datapath that each names.
//
// lab: Examples.* by team, 15 s, long
#include "netns/configs.h"
#include "netns/team_driver.h"
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

TEST(Examples, start_and_carry_with_all_their_ports) {
    const NoOptionsForAll options;
    const Cabling wires(4, FarSide::lag_switch);
    std::size_t examples = 0;
    for (const auto& example : std::filesystem::directory_iterator(TEAMO_SOURCE_DIR "/conf")) {
        if (example.path().extension() != ".json") continue;
        SCOPED_TRACE(example.path().filename());
        ++examples;
        const auto text = read_example(example.path());
        rapidjson::Document document;
        ASSERT_FALSE(document.Parse(text.c_str()).HasParseError());
        TeamUnderTest team(text);
        const bool one_port_carries = team.item("setup.runner_name") == "activebackup";
        for (const auto& port : document["ports"].GetObject()) {
            const std::string name = port.name.GetString();
            EXPECT_TRUE(team.await_link(name)) << name;
            if (one_port_carries) continue;
            EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", name), "true"));
        }
        wires.address();
        EXPECT_TRUE(reaches(wires.host(), client_v4));
        EXPECT_EQ(0, team.stop());
    }
    EXPECT_GT(examples, 0U);
}

} // namespace
} // namespace teamo::test
