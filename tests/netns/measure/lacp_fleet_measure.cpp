// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Promise: no partner of a process with many teams of the runner lacp leaves when the process is killed and
// started again. TEAMO_TEAMS=256 teams of two ports at fast rate, with as many as partners in another
// process.
#include "kernel/files/process_files.h"
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/daemon/service_manager.h"
#include "support/figure.h"

#include <linux/if_packet.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

namespace teamo::test {
namespace {

unsigned teams() {
    const auto* wanted = std::getenv("TEAMO_TEAMS");
    return wanted == nullptr ? 8 : static_cast<unsigned>(std::atoi(wanted));
}

/// The LACPDUs that arrive in a namespace, by the index of the port.
class Lacpdus {
public:
    explicit Lacpdus(const NetNs& in)
        : socket_(in.inside([] { return UniqueFd(::socket(AF_PACKET, SOCK_RAW, htons(0x8809))); })),
          reader_([this](const std::stop_token& end) { read(end); }) {}

    /// The ports whose last LACPDU says that its sender distributes.
    std::size_t distributing() {
        const std::lock_guard lock(mutex_);
        return distributing_.size();
    }
    void start_over() {
        const std::lock_guard lock(mutex_);
        left_.clear();
        longest_ = {};
        for (auto& [port, last] : last_)
            last = SteadyClock::now();
    }
    /// Ports whose sender did not distribute meanwhile.
    std::size_t left() {
        const std::lock_guard lock(mutex_);
        return left_.size();
    }
    std::chrono::duration<double, std::milli> longest_pause() {
        const std::lock_guard lock(mutex_);
        for (const auto& [port, last] : last_)
            longest_ = std::max<SteadyClock::duration>(longest_, since(last));
        return longest_;
    }

private:
    void read(const std::stop_token& end) {
        constexpr std::size_t actor_state_at = 32;
        constexpr std::uint8_t distributing = 0x20;
        const timeval patience{.tv_sec = 0, .tv_usec = 50'000};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        constexpr int buffer = 16 << 20; // of one LACPDU of each port at once
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
        while (!end.stop_requested()) {
            std::array<std::uint8_t, 256> frame{};
            sockaddr_ll from{};
            socklen_t size = sizeof from;
            const auto length = ::recvfrom(socket_.get(), frame.data(), frame.size(), 0,
                                           reinterpret_cast<sockaddr*>(&from), &size);
            if (length <= static_cast<ssize_t>(actor_state_at) || from.sll_pkttype == PACKET_OUTGOING)
                continue;
            const std::lock_guard lock(mutex_);
            const auto now = SteadyClock::now();
            const auto [last, is_new] = last_.try_emplace(from.sll_ifindex, now);
            longest_ = std::max<SteadyClock::duration>(longest_, now - std::exchange(last->second, now));
            if ((frame.at(actor_state_at) & distributing) != 0) {
                distributing_.insert(from.sll_ifindex);
            } else {
                distributing_.erase(from.sll_ifindex);
                left_.insert(from.sll_ifindex);
            }
        }
    }

    UniqueFd socket_;
    std::mutex mutex_;
    std::map<int, SteadyClock::time_point> last_;
    std::set<int> distributing_, left_;
    SteadyClock::duration longest_{};
    std::jthread reader_;
};

std::vector<std::string> fleet_command(const std::string& folder) {
    // Each has a /run of its own: one process for all teams.
    std::vector<std::string> argv{
        "unshare", "--mount", "sh", "-c", "mount --bind " + folder + "/run /run/teamd && exec \"$@\"", "sh"};
    const auto command = daemon_command({"--all", "--config-directory", folder});
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

TEST(LacpFleet, keeps_its_partners_over_kill_9) {
    if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    raise_descriptor_limit(); // two for each port
    const Cabling wires(2 * teams(), FarSide::open);
    const std::string near = "/run/test/near", far = "/run/test/far";
    std::filesystem::create_directories("/run/teamd");
    for (const auto& folder : {near, far})
        std::filesystem::create_directories(folder + "/run");
    for (unsigned number = 1; number <= teams(); ++number) {
        const auto first = 2 * number - 1;
        const auto put = [&](const std::string& folder, const std::string& team, const auto& port) {
            std::ofstream(fmt::format("{}/{}.conf", folder, team))
                << team_config(fast, ports_object(std::vector{port(first), port(first + 1)}), "", team);
        };
        put(near, fmt::format("near{}", number), Cabling::port);
        put(far, fmt::format("far{}", number), Cabling::far_end);
    }
    ServiceManager manager;
    const auto partners = Process::start({.argv = fleet_command(far), .in = &wires.peer()});
    std::optional<Process> process(
        Process::start({.argv = fleet_command(near), .environment = manager.environment()}));
    Lacpdus of_partners(wires.host()), ours(wires.peer());
    const std::size_t all = 2 * teams();
    constexpr auto patience = 120s;
    ASSERT_TRUE(manager.received("READY=1", patience));
    const auto set_up = [](const NetNs& in, const std::string& team) {
        return sh(in, fmt::format("for n in $(seq {}); do ip link set {}$n up || exit; done", teams(), team))
                   .status == 0;
    };
    ASSERT_TRUE(set_up(wires.host(), "near"));
    ASSERT_TRUE(eventually("all partners are there", [&] { return set_up(wires.peer(), "far"); }, patience));
    ASSERT_TRUE(eventually(
        "all distribute", [&] { return of_partners.distributing() == all && ours.distributing() == all; },
        patience));
    for (int round = 0; round < rounds({.shown = 1, .measured = 3}); ++round) {
        manager.forget();
        of_partners.start_over();
        ours.start_over();
        const auto begun = SteadyClock::now();
        process->signal(SIGKILL);
        process->wait(patience);
        const auto ended = since(begun);
        process.emplace(Process::start(
            {.argv = manager.with_store(fleet_command(near)), .environment = manager.environment()}));
        ASSERT_TRUE(manager.received("READY=1", patience)) << process->err();
        const auto started = since(begun);
        std::this_thread::sleep_for(3s);
        fmt::print("{} teams: ended after {} ms, ready after {} ms, longest pause between LACPDUs {:.0f} ms, "
                   "{} partners left\n",
                   teams(), ended / 1ms, started / 1ms, ours.longest_pause().count(), of_partners.left());
        EXPECT_EQ(0U, of_partners.left());
        EXPECT_TRUE(
            at_most("ms between LACPDUs", ours.longest_pause().count(), {.promised = 1500, .defect = 3000}));
    }
}

} // namespace
} // namespace teamo::test
