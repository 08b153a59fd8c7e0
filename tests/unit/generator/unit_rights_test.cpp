// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/generator/unit_rights.h"

#include "config/config_file.h"
#include "runtime/journal.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace teamo {
namespace {

using testing::HasSubstr;

UnitRights rights(std::string_view configuration) {
    return rights_of(read_configuration(configuration, "team0").configuration->team);
}

TEST(UnitRights, are_none_for_a_team_that_needs_none) {
    EXPECT_EQ(UnitRights{}, rights(R"({"ports": {"eth1": {}}, "interrupts": {"policy": "unique"}})"));
    EXPECT_EQ("", drop_in({}));
}

TEST(UnitRights, bind_processes_with_rules_for_workers) {
    const auto given = rights(R"({"workers": [{"command": "nginx", "policy": "follow"}]})");
    EXPECT_EQ(UnitRights{.binds_processes = true}, given);
    EXPECT_THAT(drop_in(given), HasSubstr("CapabilityBoundingSet=CAP_SYS_NICE\n"));
}

/// The lines of a drop-in, without comments.
std::vector<std::string> lines_of(std::istream&& text) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
        if (!line.empty() && !line.starts_with('#')) lines.push_back(line);
    return lines;
}

TEST(UnitRights, to_bind_threads_are_the_same_by_hand) {
    const auto by_hand = lines_of(std::ifstream(TEAMO_SOURCE_DIR "/packaging/systemd/bind-threads.conf"));
    EXPECT_THAT(lines_of(std::istringstream(drop_in({.binds_processes = true}))),
                testing::UnorderedElementsAreArray(by_hand));
}

TEST(UnitRights, ask_name_servers_only_for_names) {
    const auto target = [](const char* host) {
        return rights(fmt::format(
            R"({{"ports": {{"eth1": {{"link_watch": {{"name": "arp_ping", "target_host": "{}"}}}}}}}})",
            host));
    };
    EXPECT_EQ(UnitRights{}, target("192.0.2.1"));
    EXPECT_EQ(UnitRights{.asks_name_servers = true}, target("gateway"));
    EXPECT_EQ(UnitRights{}, rights(R"({"link_watch": {"name": "nsna_ping", "target_host": "fe80::1"}})"));
    EXPECT_EQ(UnitRights{.asks_name_servers = true},
              rights(R"({"link_watch": {"name": "nsna_ping", "target_host": "router"}})"));
}

TEST(UnitRights, use_tipc_for_its_watch) {
    EXPECT_EQ(UnitRights{.uses_tipc = true},
              rights(R"({"link_watch": {"name": "tipc", "tipc_bearer": "eth1"}})"));
}

/// A folder with a folder of configurations and one of units.
class Generated : public testing::Test {
protected:
    std::filesystem::path folder = testing::TempDir() + fmt::format("generated-{}", ::getpid());
    void SetUp() override { std::filesystem::create_directories(folder / "conf"); }
    void TearDown() override { std::filesystem::remove_all(folder); }
    void configure(const char* file, const char* text) const {
        std::ofstream(folder / "conf" / file) << text;
    }
    std::vector<Error> generate() const {
        return generate_drop_ins(folder / "conf", folder / "run", folder / "units");
    }
    std::string drop_in_of(const std::string& team) const { return of_unit("teamd-offload@" + team); }
    std::string of_unit(const std::string& unit) const {
        std::ifstream file(folder / "units" / (unit + ".service.d") / "rights.conf");
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

TEST_F(Generated, has_a_drop_in_for_each_team_that_needs_one) {
    configure("team0.conf", R"({"workers": [{"user": "www-data", "policy": "follow"}]})");
    configure("team1.conf", R"({"device": "team1"})");
    configure("team2.conf", "no JSON");
    configure("notes.txt", R"({"workers": [{"user": "www-data", "policy": "follow"}]})");
    const auto errors = generate();
    ASSERT_EQ(1U, errors.size());
    EXPECT_THAT(errors[0].text,
                testing::AllOf(HasSubstr("/conf/team2.conf:"), HasSubstr("no additional rights")));
    EXPECT_THAT(drop_in_of("team0"), HasSubstr("[Service]"));
    for (const auto* none : {"team1", "team2", "notes"})
        EXPECT_EQ("", drop_in_of(none)) << none;
    EXPECT_EQ(drop_in_of("team0"), of_unit("teamd-offload")) << "what any of the teams needs";
}

TEST_F(Generated, lets_a_team_release_the_workers_of_rules_that_are_gone) {
    std::filesystem::create_directories(folder / "run");
    Journal with_workers;
    with_workers.workers.processes.push_back(
        {.id = {.pid = 4711, .started = 1}, .cpus = {1}, .leaving = {}, .before = {0, 1}, .threads = {}});
    std::ofstream(folder / "run" / "team0.json") << text_of(with_workers);
    std::ofstream(folder / "run" / "team1.json") << text_of(Journal{});
    std::ofstream(folder / "run" / "team2.json") << "no JSON";
    for (const auto* file : {"team0.conf", "team1.conf", "team2.conf"})
        configure(file, "{}");
    const auto may_release = [&] {
        generate();
        return drop_in_of("team0").find("CapabilityBoundingSet=CAP_SYS_NICE\n") != std::string::npos;
    };
    EXPECT_TRUE(may_release());
    configure("team0.conf", "an error");
    EXPECT_TRUE(may_release());
    with_workers.workers.processes.front().before.resize(std::size_t{1} << 20); // more than 1 MiB of text
    std::ofstream(folder / "run" / "team0.json") << text_of(with_workers);
    EXPECT_TRUE(may_release());
    for (const auto* none : {"team1", "team2"})
        EXPECT_EQ("", drop_in_of(none)) << none;
}

TEST_F(Generated, names_a_file_that_cannot_be_read) {
    std::filesystem::create_symlink("gone", folder / "conf" / "team0.conf");
    configure("team1.conf", R"({"workers": [{"user": "www-data", "policy": "follow"}]})");
    const auto errors = generate();
    ASSERT_EQ(1U, errors.size());
    EXPECT_THAT(errors[0].text, HasSubstr("/conf/team0.conf: No such file or directory; "));
    EXPECT_THAT(drop_in_of("team1"), HasSubstr("[Service]"));
}

TEST_F(Generated, names_what_cannot_be_written) {
    configure("team0.conf", R"({"workers": [{"user": "www-data", "policy": "follow"}]})");
    std::ofstream(folder / "units") << "a file";
    EXPECT_EQ(2U, generate().size()) << "of the team, and of the unit for all";
    EXPECT_TRUE(generate_drop_ins(folder / "none", folder / "run", folder / "units").empty());
}

} // namespace
} // namespace teamo
