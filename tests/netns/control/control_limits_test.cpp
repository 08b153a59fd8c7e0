// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What readers of the control socket cannot take from root and from other programs: places and CPU time.
//
// lab: ControlLimits.* by none: does not depend on the datapath
#include "netns/configs.h"
#include "support/daemon/usage.h"

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/syscall.h>

#include <filesystem>
#include <thread>

namespace teamo::test {
namespace {

using testing::StartsWith;

constexpr uid_t nobody = 65534, somebody = 65533;

/// Runs `action` in a thread with this user and group 0, which is that of the daemon in a test. By the system
/// call, because setresuid(3) changes all threads. A connection keeps the user that made it.
template <class Action>
auto as_reader(uid_t user, Action action) {
    decltype(action()) made;
    std::jthread([&] {
        if (::syscall(SYS_setresuid, -1, user, -1) == 0) made = action();
    }).join();
    return made;
}

std::optional<ControlSocket> reader(uid_t user) {
    return as_reader(user, [] { return ControlSocket::to("team0"); });
}

/// Those of `wanted` connections that the daemon keeps.
std::vector<ControlSocket> readers(uid_t user, int wanted) {
    std::vector<ControlSocket> kept;
    for (int count = 0; count < wanted; ++count)
        if (auto one = reader(user); one && one->ask("ConfigDump")) kept.push_back(std::move(*one));
    return kept;
}

struct WithReaders {
    Cabling wires{1, FarSide::open};
    TeamUnderTest team{loadbalance(1)};
};

TEST(ControlLimits, keep_places_for_other_users_and_root) {
    const WithReaders running;
    auto of_one = readers(nobody, 30);
    EXPECT_EQ(16U, of_one.size());
    EXPECT_EQ(16U, readers(somebody, 20).size()) << "one user leaves places to others";
    EXPECT_EQ(1U, lines_with(running.team.log(), "too many control clients of one user"))
        << running.team.log();
    std::vector<ControlSocket> all;
    for (uid_t user = 1; user <= 65; ++user)
        for (auto& one : readers(user, 1))
            all.push_back(std::move(one));
    EXPECT_EQ(32U, all.size());
    EXPECT_EQ(1U, lines_with(running.team.log(), "that are not root; refused")) << running.team.log();
    EXPECT_EQ(0, running.team.teamoctl({"state", "dump"}).status);
    of_one.clear();
    EXPECT_TRUE(eventually("the places are free again", [] { return readers(somebody, 1).size() == 1; }));
}

TEST(ControlLimits, refuse_a_request_that_is_too_long) {
    const WithReaders running;
    const auto socket = ControlSocket::to("team0");
    ASSERT_TRUE(socket->send(std::string((1 << 20) + 1, 'x')));
    EXPECT_THAT(socket->receive().value_or(""),
                StartsWith("REPLY_ERROR\nInvalidArgs\nThe request is too long"));
    EXPECT_TRUE(socket->ask("ConfigDump")) << "the connection still works";
    EXPECT_TRUE(running.team.answers());
}

TEST(ControlLimits, leave_the_cpu_to_others_when_a_reader_asks_without_pause) {
    const WithReaders running;
    const auto busy = readers(nobody, 4);
    const auto other = reader(somebody);
    const auto before = cpu_time(running.team.pid());
    const auto start = SteadyClock::now();
    while (since(start) < 1500ms)
        for (const auto& one : busy)
            while (one.send("REQUEST\nStateDump\n") || one.receive(0ms))
                ;
    EXPECT_TRUE(other->ask("StateDump")) << "another reader is served";
    EXPECT_TRUE(running.team.answers());
    const std::chrono::duration<double, std::milli> used = cpu_time(running.team.pid()) - before,
                                                    elapsed = SteadyClock::now() - start;
    EXPECT_LT(used.count(), 250 + 0.05 * elapsed.count() + 150) << "in " << elapsed.count() << " ms";
    for (const auto& one : busy) {
        while (one.receive(0ms))
            ;
        EXPECT_TRUE(one.receive()) << "the requests that wait are not lost";
    }
}

TEST(ControlLimits, leave_the_cpu_to_others_when_a_reader_connects_without_pause) {
    const WithReaders running;
    const auto before = cpu_time(running.team.pid());
    const auto start = SteadyClock::now();
    const auto made = as_reader(nobody, [start] {
        int count = 0;
        for (; since(start) < 1500ms; ++count)
            static_cast<void>(ControlSocket::to("team0"));
        return count;
    });
    const std::chrono::duration<double, std::milli> used = cpu_time(running.team.pid()) - before,
                                                    elapsed = SteadyClock::now() - start;
    // What the budget counts, and as much again for the loop.
    EXPECT_LT(used.count(), 2 * (50 + 0.03 * elapsed.count()) + 100)
        << "in " << elapsed.count() << " ms by " << made << " connections";
    EXPECT_TRUE(running.team.answers());
}

TEST(ControlLimits, wait_for_a_descriptor) {
    const WithReaders running;
    const auto pid = running.team.pid();
    rlimit normal{};
    ASSERT_EQ(0, ::prlimit(pid, RLIMIT_NOFILE, nullptr, &normal));
    rlimit none{.rlim_cur = 3, .rlim_max = normal.rlim_max};
    while (std::filesystem::exists(
        std::filesystem::symlink_status(fmt::format("/proc/{}/fd/{}", pid, none.rlim_cur))))
        ++none.rlim_cur;
    ASSERT_EQ(0, ::prlimit(pid, RLIMIT_NOFILE, &none, nullptr));
    const auto socket = ControlSocket::to("team0");
    ASSERT_TRUE(socket->send("REQUEST\nConfigDump\n"));
    const auto message = "cannot accept control clients: Too many open files";
    EXPECT_TRUE(eventually("it says so", [&] { return lines_with(running.team.log(), message) > 0; }));
    const auto before = cpu_time(running.team.pid());
    const auto start = SteadyClock::now();
    std::this_thread::sleep_for(500ms);
    const std::chrono::duration<double, std::milli> used = cpu_time(running.team.pid()) - before,
                                                    elapsed = SteadyClock::now() - start;
    EXPECT_LT(used.count(), 0.1 * elapsed.count());
    EXPECT_EQ(1U, lines_with(running.team.log(), message));
    ASSERT_EQ(0, ::prlimit(pid, RLIMIT_NOFILE, &normal, nullptr));
    EXPECT_TRUE(socket->receive()) << "the client that waited is served";
}

} // namespace
} // namespace teamo::test
