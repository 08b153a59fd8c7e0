// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Links that go down and up thousands of times: how soon the state is right again, what the daemon keeps of
// it, and what it does when all is quiet.
#include "netns/configs.h"
#include "support/daemon/address_space.h"
#include "support/daemon/control_socket.h"
#include "support/daemon/usage.h"
#include "support/figure.h"

#include <csignal>
#include <filesystem>
#include <thread>

namespace teamo::test {
namespace {

constexpr unsigned port_count = 8;

/// From /proc/PID.
struct Footprint {
    std::size_t descriptors = 0;
    double own_kib = 0;
};

Footprint footprint(pid_t process) {
    const auto folder = fmt::format("/proc/{}", process);
    Footprint now;
    now.descriptors =
        static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder + "/fd"), {}));
    now.own_kib = static_cast<double>(own_memory_kib(process));
    return now;
}

/// Eight ports, and which of them have a cable.
struct Storm : testing::Test {
    Cabling wires{port_count, FarSide::open};
    TeamUnderTest team{loadbalance(port_count)};
    std::optional<ControlSocket> socket;

    Storm() {
        for (unsigned port = 1; port <= port_count; ++port)
            if (const auto up = team.await_link(Cabling::port(port)); !up) throw SetupError(up.message());
        socket = ControlSocket::to("team0");
    }

    /// Pulls and plugs every cable this many times; in the end those of the even ports are out.
    void flap(unsigned times) const {
        std::string lines;
        for (unsigned time = 0; time < times; ++time)
            for (const auto* state : {"down", "up"})
                for (unsigned port = 1; port <= port_count; ++port)
                    lines += fmt::format("link set {} {}\n", Cabling::far_end(port), state);
        for (unsigned port = 2; port <= port_count; port += 2)
            lines += fmt::format("link set {} down\n", Cabling::far_end(port));
        wires.peer().ip(lines);
    }
    bool is_right() const {
        for (unsigned port = 1; port <= port_count; ++port) {
            const auto path = fmt::format("ports.{}.datapath.transmits", Cabling::port(port));
            if (payload_of(socket->ask("StateItemValueGet", {path})) != (port % 2 == 0 ? "false" : "true"))
                return false;
        }
        return true;
    }
    /// Milliseconds.
    double until_right() const {
        const auto start = SteadyClock::now();
        EXPECT_TRUE(eventually("the state is that of the cables", [this] { return is_right(); }));
        return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
    }
};

TEST_F(Storm, of_8000_flaps_leaves_nothing) {
    flap(100); // what the daemon needs once
    static_cast<void>(until_right());
    const auto before = footprint(team.pid());
    flap(1000);
    EXPECT_TRUE(at_most("ms until the state is right", until_right(), {.promised = 1000, .defect = 5000}));
    const auto after = footprint(team.pid());
    fmt::print("{} descriptors, {} KiB of own memory\n", after.descriptors, after.own_kib);
    EXPECT_EQ(before.descriptors, after.descriptors);
    EXPECT_TRUE(at_most("KiB more", after.own_kib - before.own_kib, {.promised = 128, .defect = 2048}));

    // Several: a machine that stands still for 40 ms makes 1 % of one round of three seconds.
    std::vector<double> shares;
    for (int round = 0; round < rounds({.shown = 3, .measured = 15}); ++round) {
        const auto start = SteadyClock::now();
        const auto used = cpu_time(team.pid());
        std::this_thread::sleep_for(1s);
        shares.push_back(std::chrono::duration<double>(cpu_time(team.pid()) - used) /
                         (SteadyClock::now() - start));
    }
    EXPECT_TRUE(at_most("% of a CPU when idle", 100 * median(shares), {.promised = 0.1, .defect = 1}));
}

TEST_F(Storm, is_seen_by_a_daemon_that_was_frozen) {
    std::vector<double> times;
    for (int round = 0; round < rounds({.shown = 3, .measured = 10}); ++round) {
        team.signal(SIGSTOP);
        flap(63); // 504 flaps
        team.signal(SIGCONT);
        times.push_back(until_right());
    }
    EXPECT_TRUE(at_most("ms until the state is right", times, {.promised = 200, .defect = 2000}));
}

} // namespace
} // namespace teamo::test
