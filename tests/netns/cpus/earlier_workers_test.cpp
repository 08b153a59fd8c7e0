// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Workers that an earlier daemon bound.
#include "netns/cpus/workers_fixture.h"
#include "support/daemon/watched_calls.h"

#include <sys/mount.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <regex>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(Workers, stay_where_they_are_until_a_later_daemon_stops) {
    WatchedCalls after_restart, after_kill;
    TeamUnderTest team(with_workers(R"([{"command": "iperf3"}])"), {"-N"});
    bring_up(wires_, team);
    const auto worker = server(5201), idle = server(5202);
    listens(5201);
    listens(5202);
    const auto traffic = client(cpus_[1], 5201);
    {
        const auto until_it_is_bound = client(cpus_[1], 5202);
        for (const auto pid : {worker.pid(), idle.pid()})
            ASSERT_TRUE(becomes(std::vector{cpus_[1]}, [&] { return affinity(pid); }, soon));
    }
    AffinityWatch watch(worker.pid()), watch_idle(idle.pid());
    const auto is_shown_as_bound = [&] {
        return eventually(
            "the new daemon has measured and shows the worker where it was",
            [&] {
                const auto shown = team.teamoctl({"workers"}, {"--json"}).out;
                return shown.find(fmt::format(R"("cpus": "{}")", cpus_[1])) != std::string::npos &&
                       shown.find("% of its traffic arrives") != std::string::npos;
            },
            soon);
    };
    team.stop(); // -N: the team continues
    ASSERT_TRUE(team.try_to_start(after_restart));
    EXPECT_TRUE(is_shown_as_bound());
    team.kill();
    ASSERT_TRUE(team.try_to_start(after_kill));
    EXPECT_TRUE(is_shown_as_bound());
    EXPECT_THAT(watch.seen(), ElementsAre(CpuList{cpus_[1]}));
    EXPECT_THAT(watch_idle.seen(), ElementsAre(CpuList{cpus_[1]})) << "it has no connection";
    for (const auto* calls : {&after_restart, &after_kill})
        EXPECT_THAT(calls->steps(), Not(testing::Contains("sched_setaffinity")));
    EXPECT_THAT(team.log(), HasSubstr("adopted 2 processes that an earlier daemon had bound"));
    team.stop();
    EXPECT_EQ(cpus_, affinity(worker.pid()));
    EXPECT_EQ(cpus_, affinity(idle.pid()));
}

/// The daemon's journal; `edit` may change it while no daemon runs.
std::string journal(const std::function<void(std::string&)>& edit = {}) {
    constexpr auto path = "/run/teamd-offload/team0.json";
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (edit) {
        edit(text);
        std::ofstream(path) << text;
    }
    return text;
}

std::string entry_of(const Process& process) { return fmt::format(R"("process": {},)", process.pid()); }

TEST_F(Workers, of_an_earlier_daemon_go_if_nothing_wants_them) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    bring_up(wires_, team);
    const auto unwanted = server(5201), reused = server(5202);
    auto gone = server(5203);
    std::vector<Process> clients;
    for (const int port : {5201, 5202, 5203}) {
        listens(port);
        clients.push_back(client(cpus_[0], port));
    }
    const auto named = Process::start({.argv = {"sleep", "600"}});
    ASSERT_EQ(0, team.teamoctl({"workers", "bind", std::to_string(named.pid()), "spread"}).status);
    for (const auto pid : {unwanted.pid(), reused.pid(), gone.pid(), named.pid()})
        ASSERT_TRUE(eventually("it is bound", [&] { return affinity(pid).size() == 1; }, soon));
    const auto journaled = [&](const Process& process) {
        return journal().find(entry_of(process)) != std::string::npos;
    };
    ASSERT_TRUE(eventually("all are in the journal", [&] { return journaled(named) && journaled(gone); }));
    team.kill();
    gone.signal(SIGKILL);
    ASSERT_TRUE(gone.wait(patient(long_enough)));
    journal([&](std::string& text) { // as if another process had its number now
        text = std::regex_replace(text, std::regex(entry_of(reused) + R"(\s*"started": \d+)"),
                                  entry_of(reused) + R"("started": 1)");
    });
    AffinityWatch other(reused.pid()), by_hand(named.pid());
    team.start({"-c", with_workers("")});
    EXPECT_TRUE(becomes(cpus_, [&] { return affinity(unwanted.pid()); }));
    EXPECT_TRUE(eventually("only the named process is in the journal", [&] {
        return journaled(named) && !journaled(unwanted) && !journaled(reused) && !journaled(gone);
    })) << journal();
    EXPECT_THAT(team.teamoctl({"workers"}).out, AllOf(HasSubstr("sleep"), HasSubstr("by hand")));
    EXPECT_THAT(by_hand.seen(), ElementsAre(testing::SizeIs(1)));
    EXPECT_THAT(other.seen(), ElementsAre(testing::SizeIs(1)));
    team.stop();
    EXPECT_EQ(cpus_, affinity(named.pid()));
}

TEST_F(Workers, of_an_earlier_daemon_go_at_once_without_a_rule) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    const auto [worker, traffic] = left_bound_by(team);
    team.start({"-c", with_workers("")});
    EXPECT_EQ(cpus_, affinity(worker.pid()));
    EXPECT_THAT(journal(), Not(HasSubstr(entry_of(worker))));
}

/// A daemon without the rights for `workers` (systemd's ProtectProc=) does not see the processes of other
/// users.
TEST_F(Workers, of_an_earlier_daemon_stay_in_the_journal_while_they_are_hidden) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    const auto [worker, traffic] = left_bound_by(team);
    const auto entry = fmt::format("/proc/{}", worker.pid());
    ASSERT_EQ(0, ::mount("tmpfs", entry.c_str(), "tmpfs", 0, nullptr));
    team.start({"-c", with_workers("")});
    EXPECT_THAT(team.log(), HasSubstr(entry + " cannot be read"));
    EXPECT_THAT(journal(), HasSubstr(entry_of(worker)));
    ASSERT_EQ(0, ::umount(entry.c_str()));
    team.kill();
    team.start({"-c", with_workers("")});
    EXPECT_EQ(cpus_, affinity(worker.pid()));
    EXPECT_THAT(journal(), Not(HasSubstr(entry_of(worker))));
}

TEST_F(Workers, of_a_team_that_is_gone_are_free) {
    TeamUnderTest team(with_workers(R"([{"command": "iperf3", "policy": "spread"}])"));
    const auto busy = left_bound_by(team);
    must(wires_.host(), "ip link del team0");
    const TeamUnderTest second(
        R"({"device": "team1", "workers": [{"command": "iperf3", "policy": "spread"}]})", {}, "team1");
    EXPECT_TRUE(eventually(
        "the other team binds it",
        [&] {
            return second.log().find(fmt::format("iperf3 (process {}): runs on CPU", busy.server.pid())) !=
                   std::string::npos;
        },
        soon))
        << second.teamoctl({"workers"}).out;
}

} // namespace
} // namespace teamo::test
