// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How irqbalance is asked to ban interrupts. This uses a fake irqbalance; tests/lab/tests/irqbalance_test.cpp
// uses the real one.
//
// lab: IrqBalanceBan.* by none: no datapath is made
#include "daemon/cpus/irqbalance_ban.h"
#include "support/daemon/ask_irqbalance.h"
#include "support/daemon/irqbalance_server.h"
#include "support/daemon/process.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Manner = IrqBalanceServer::Manner;

class IrqBalanceBan : public testing::Test {
protected:
    IrqBalanceBan() {
        std::string name = fs::temp_directory_path() / "teamo-irqbalance-XXXXXX";
        folder_ = ::mkdtemp(name.data());
        fs::create_directories(sockets());
        fs::create_directories(folder_ / "proc");
        auto loop = make_loop();
        if (!loop) throw SetupError(loop.error().text);
        loop_ = std::move(*loop);
    }
    ~IrqBalanceBan() override { fs::remove_all(folder_); }

    fs::path sockets() const { return folder_ / "run/irqbalance"; }

    IrqBalancePlaces places(std::chrono::milliseconds poll_unreported = 60s) const {
        return {.sockets = sockets(),
                .record = folder_ / "record",
                .proc = folder_ / "proc",
                .cgroups = folder_ / "cgroup",
                .patience = 1s,
                .poll_unreported = poll_unreported};
    }

    std::unique_ptr<IrqBalance> team(const std::string& name,
                                     std::chrono::milliseconds poll_unreported = 60s) {
        auto made = IrqBalance::make(loop_.get(), log_, name, places(poll_unreported));
        if (!made) throw SetupError(made.error().text);
        return std::move(*made);
    }

    /// Runs the event loop until the condition holds and records the longest iteration: irqbalance must never
    /// block the loop.
    template <class Condition>
    testing::AssertionResult comes(std::string_view what, Condition holds,
                                   milliseconds patience = long_enough) {
        return eventually(
            what,
            [&] {
                const auto start = SteadyClock::now();
                while (sd_event_run(loop_.get(), 0) > 0) {
                }
                slowest_ = std::max(slowest_, since(start));
                return holds();
            },
            patience);
    }
    testing::AssertionResult honours(const IrqBalance& ban, const BannedIrqs& irqs) {
        return comes("it honours " + testing::PrintToString(irqs), [&] {
            return ban.status().honoured == irqs && ban.status().asked == irqs &&
                   ban.status().complaint.empty();
        });
    }

    fs::path folder_;
    EventLoop loop_;
    Log log_{"test", LogOutput::standard_error};
    milliseconds slowest_{0};
    const pid_t pid_ = ::getpid();
};

TEST_F(IrqBalanceBan, keeps_the_bans_of_the_administrator) {
    IrqBalanceServer server(sockets(), pid_, {5, 9});
    const auto ban = team("team0");
    ban->keep_out({24, 25});
    ASSERT_TRUE(honours(*ban, {24, 25}));
    EXPECT_THAT(server.banned(), ElementsAre(5, 9, 24, 25));
    EXPECT_TRUE(server.knew_who_asked());
    EXPECT_TRUE(ban->status().present);
    EXPECT_EQ(pid_, ban->status().pid);
    bool released = false;
    ban->release([&] { released = true; });
    ASSERT_TRUE(comes("released", [&] { return released; }));
    EXPECT_THAT(server.banned(), ElementsAre(5, 9));
}

TEST_F(IrqBalanceBan, sends_once) {
    IrqBalanceServer server(sockets(), pid_);
    const auto ban = team("team0", 20ms);
    ban->keep_out({24, 25});
    ASSERT_TRUE(honours(*ban, {24, 25}));
    EXPECT_FALSE(comes(
        "", [&] { return server.writes() != 1; }, 300ms))
        << "each write makes irqbalance rescan all interrupts";
}

TEST_F(IrqBalanceBan, follows_changed_interrupt_numbers) {
    IrqBalanceServer server(sockets(), pid_, {25});
    const auto ban = team("team0");
    ban->keep_out({24, 25, 26});
    ban->keep_out({25, 26, 31}); // while the first request runs
    ASSERT_TRUE(honours(*ban, {25, 26, 31}));
    EXPECT_THAT(server.banned(), ElementsAre(25, 26, 31));
    ban->keep_out({30});
    ASSERT_TRUE(honours(*ban, {30}));
    EXPECT_THAT(server.banned(), ElementsAre(25, 30)) << "25 was banned before we started";
}

TEST_F(IrqBalanceBan, combines_all_teams) {
    IrqBalanceServer server(sockets(), pid_, {5});
    std::vector<std::unique_ptr<IrqBalance>> teams;
    for (unsigned number = 0; number < 4; ++number)
        teams.push_back(team("team" + std::to_string(number)));
    for (unsigned number = 0; number < 4; ++number)
        teams[number]->keep_out({20 + number, 40});
    for (unsigned number = 0; number < 4; ++number)
        ASSERT_TRUE(honours(*teams[number], {20 + number, 40}));
    EXPECT_THAT(server.banned(), ElementsAre(5, 20, 21, 22, 23, 40));
    unsigned released = 0;
    for (unsigned number = 0; number < 3; ++number)
        teams[number]->release([&] { ++released; });
    ASSERT_TRUE(comes("released", [&] { return released == 3; }));
    EXPECT_THAT(server.banned(), ElementsAre(5, 23, 40)) << "the bans of the last team stay";
}

TEST_F(IrqBalanceBan, next_daemon_withdraws_after_a_kill) {
    IrqBalanceServer server(sockets(), pid_, {5});
    auto killed = team("team0");
    killed->keep_out({24, 25});
    ASSERT_TRUE(honours(*killed, {24, 25}));
    killed.reset();
    const auto next = team("team0");
    next->keep_out({25});
    ASSERT_TRUE(honours(*next, {25}));
    EXPECT_THAT(server.banned(), ElementsAre(5, 25));
}

TEST_F(IrqBalanceBan, withdraws_a_request_without_its_answer) {
    IrqBalanceServer server(sockets(), pid_, {5});
    auto ban = team("team0");
    EXPECT_FALSE(IrqBalance::has_asked("team0", places()));
    ban->keep_out({24});
    ASSERT_TRUE(comes("the request", [&] { return server.writes() == 1; }));
    ban.reset();
    EXPECT_TRUE(IrqBalance::has_asked("team0", places()));
    const auto last = team("team0");
    bool released = false;
    last->release([&] { released = true; });
    ASSERT_TRUE(comes("released", [&] { return released; }));
    EXPECT_THAT(server.banned(), ElementsAre(5));
    EXPECT_FALSE(IrqBalance::has_asked("team0", places()));
}

TEST_F(IrqBalanceBan, sends_again_when_irqbalance_restarts) {
    const auto ban = team("team0"); // before irqbalance and the directory of its socket exist
    fs::remove_all(sockets());
    ban->keep_out({24});
    ASSERT_TRUE(comes("it is known to be absent", [&] { return !ban->status().present; }));
    for (int start = 0; start < 3; ++start) {
        fs::create_directories(sockets());
        {
            IrqBalanceServer server(sockets(), pid_, {5});
            ASSERT_TRUE(honours(*ban, {24}));
            EXPECT_THAT(server.banned(), ElementsAre(5, 24));
        }
        fs::remove_all(sockets());
        ASSERT_TRUE(comes("it is gone", [&] { return !ban->status().present; }));
        EXPECT_THAT(ban->status().honoured, IsEmpty());
        EXPECT_EQ("", ban->status().complaint);
    }
}

TEST_F(IrqBalanceBan, sends_again_when_another_program_removes_it) {
    IrqBalanceServer server(sockets(), pid_, {5});
    const auto ban = team("team0", 20ms);
    ban->keep_out({24});
    ASSERT_TRUE(honours(*ban, {24}));
    server.set_banned({6});
    ASSERT_TRUE(comes("back", [&] { return server.banned() == BannedIrqs{6, 24}; }));
}

TEST_F(IrqBalanceBan, reports_a_list_that_irqbalance_truncates) {
    IrqBalanceServer server(sockets(), pid_, {7}, 500);
    const auto ban = team("team0", 20ms);
    BannedIrqs many;
    for (unsigned irq = 100; irq < 300; ++irq)
        many.insert(irq);
    ban->keep_out(many);
    ASSERT_TRUE(comes("a complaint", [&] { return !ban->status().complaint.empty(); }));
    EXPECT_THAT(ban->status().complaint, HasSubstr(" of 200 interrupts"));
    const auto banned = server.banned();
    EXPECT_GT(banned.size(), 110U);
    EXPECT_TRUE(banned.contains(7));
    for (const auto irq : banned)
        EXPECT_TRUE(irq == 7 || many.contains(irq)) << irq;
    EXPECT_FALSE(comes("", [&] { return server.writes() != 1; }, 300ms)) << "repeating would not help";
}

TEST_F(IrqBalanceBan, does_not_block_on_a_hanging_irqbalance) {
    IrqBalanceServer server(sockets(), pid_);
    server.behave(Manner::asleep);
    const auto ban = team("team0");
    ban->keep_out({24});
    ASSERT_TRUE(comes("a complaint", [&] { return !ban->status().complaint.empty(); }));
    EXPECT_THAT(ban->status().complaint, HasSubstr("does not answer"));
    EXPECT_LT(slowest_, 200ms);
    server.behave(Manner::good);
    ASSERT_TRUE(honours(*ban, {24}));
}

TEST_F(IrqBalanceBan, reports_missing_and_invalid_replies) {
    IrqBalanceServer server(sockets(), pid_);
    const auto ban = team("team0");
    server.behave(Manner::silent);
    ban->keep_out({24});
    for (const auto& [manner, word] :
         {std::pair(Manner::silent, "without an answer"), std::pair(Manner::garbage, "malformed answer"),
          std::pair(Manner::endless, "longer than 64 KiB")}) {
        server.behave(manner);
        ASSERT_TRUE(comes(
            word, [&, said = word] { return ban->status().complaint.find(said) != std::string::npos; }));
        EXPECT_THAT(ban->status().honoured, IsEmpty());
    }
    EXPECT_EQ(0U, server.writes());
    server.behave(Manner::good);
    ASSERT_TRUE(honours(*ban, {24}));
}

TEST_F(IrqBalanceBan, ignores_the_socket_of_a_dead_irqbalance) {
    {
        const std::ofstream file(sockets() / "irqbalance999999999.sock");
    }
    EXPECT_THAT(find_irqbalance(sockets()), IsEmpty());
    auto ended = Process::start({.argv = {"true"}});
    ASSERT_TRUE(ended.wait(5s));
    IrqBalanceServer dead(sockets(), ended.pid());
    EXPECT_THAT(find_irqbalance(sockets()), IsEmpty());
    IrqBalanceServer alive(sockets(), pid_);
    EXPECT_THAT(find_irqbalance(sockets()),
                ElementsAre(IrqBalanceSocket{pid_, sockets() / fmt::format("irqbalance{}.sock", pid_)}));
    const auto reply = ask_irqbalance(find_irqbalance(sockets())[0].path, "setup", 5s);
    ASSERT_TRUE(reply) << reply.error().text;
    EXPECT_EQ("SLEEP 10 BANNED 00", *reply);
    alive.behave(Manner::asleep);
    const auto none = ask_irqbalance(find_irqbalance(sockets())[0].path, "setup", 100ms);
    ASSERT_FALSE(none);
    EXPECT_EQ(ETIMEDOUT, none.error().number);
}

TEST_F(IrqBalanceBan, reports_a_missing_socket) {
    fs::create_directories(folder_ / "proc/77");
    std::ofstream(folder_ / "proc/77/comm") << "irqbalance\n";
    const auto ban = team("team0", 20ms);
    ban->keep_out({24});
    ASSERT_TRUE(comes("a complaint", [&] { return !ban->status().complaint.empty(); }));
    EXPECT_THAT(ban->status().complaint, HasSubstr("without a socket"));
    EXPECT_EQ(77, ban->status().pid);
}

/// /proc hides it from a unit with ProtectProc=invisible.
TEST_F(IrqBalanceBan, reports_a_missing_socket_of_a_hidden_process) {
    const auto service = folder_ / "cgroup/system.slice/irqbalance.service";
    fs::create_directories(service);
    std::ofstream(service / "cgroup.procs") << "78\n79\n";
    const auto ban = team("team0", 20ms);
    ban->keep_out({24});
    ASSERT_TRUE(comes("a complaint", [&] { return !ban->status().complaint.empty(); }));
    EXPECT_EQ(78, ban->status().pid);
}

} // namespace
} // namespace teamo::test
