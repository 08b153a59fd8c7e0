// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Workers that are bound and released by commands.
#include "netns/cpus/workers_fixture.h"

namespace teamo::test {
namespace {

using testing::HasSubstr;

TEST_F(Workers, binds_and_releases_by_hand) {
    TeamUnderTest team(with_workers(""));
    bring_up(wires_, team);
    const auto worker = server(5201);
    listens(5201);
    const auto traffic = client(cpus_[1], 5201);
    EXPECT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(worker.pid())}).status);
    EXPECT_TRUE(becomes(std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
    EXPECT_THAT(team.teamoctl({"workers"}).out, HasSubstr("by hand"));
    EXPECT_EQ(0, team.teamoctl({"workers", "release", std::to_string(worker.pid())}).status);
    EXPECT_EQ(cpus_, affinity(worker.pid()));
}

TEST_F(Workers, binds_what_workers_run_starts) {
    TeamUnderTest team(with_workers(""));
    bring_up(wires_, team);
    const auto worker = server(5201, {teamoctl_program(), "team0", "workers", "run", "--"});
    listens(5201);
    const auto traffic = client(cpus_[1], 5201);
    EXPECT_TRUE(becomes(std::vector{cpus_[1]}, [&] { return affinity(worker.pid()); }, soon));
}

TEST_F(Workers, are_set_back_and_bound_again_on_request) {
    const TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"));
    const auto busy = following(team, cpus_[1]);
    const auto is_bound = [&] { return affinity(busy.server.pid()) == std::vector{cpus_[1]}; };
    EXPECT_EQ(0, team.teamoctl({"workers", "restore"}).status);
    EXPECT_EQ("false", team.item("workers.managed"));
    EXPECT_FALSE(is_bound());
    EXPECT_EQ(0, team.teamoctl({"workers", "apply"}).status);
    EXPECT_TRUE(eventually("it is bound again", is_bound, soon));
}

TEST_F(Workers, refuses_invalid_processes) {
    const TeamUnderTest team(with_workers(""));
    const auto worker = server(5201);
    const auto refused = [&](std::vector<std::string> words) {
        const auto answer = team.teamoctl(words);
        EXPECT_NE(0, answer.status);
        return answer.err;
    };
    EXPECT_THAT(refused({"workers", "bind", "4000000"}), HasSubstr("process 4000000 is gone"));
    EXPECT_THAT(refused({"workers", "bind", "0"}), HasSubstr("0 is not a process ID"));
    EXPECT_THAT(refused({"workers", "bind", "1", "hop"}), HasSubstr("\"hop\" is not a policy"));
    EXPECT_THAT(refused({"workers", "release", std::to_string(worker.pid())}),
                HasSubstr("is no worker of this team"));
}

} // namespace
} // namespace teamo::test
