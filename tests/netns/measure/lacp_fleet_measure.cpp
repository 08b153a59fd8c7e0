// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Promise: no partner of a process with many teams of the runner lacp leaves when the process is killed and
// started again. TEAMO_TEAMS=256 teams of two ports at fast rate, with as many as partners in another
// process.
#include "kernel/files/process_files.h"
#include "netns/configs.h"
#include "netns/measure/teams.h"
#include "support/daemon/lacp_partner.h"
#include "support/daemon/service_manager.h"
#include "support/figure.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

namespace teamo::test {
namespace {

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

class LacpFleet : public testing::Test {
protected:
    void SetUp() override {
        if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
        start();
    }
    void start_ours(const std::vector<std::string>& command) {
        process_.emplace(Process::start({.argv = command, .environment = manager_.environment()}));
        ASSERT_TRUE(manager_.received("READY=1", patience)) << process_->err();
    }
    void start_over() {
        of_partners_->start_over();
        ours_->start_over();
    }

    static constexpr auto patience = 120s;
    const std::string near_ = "/run/test/near", far_ = "/run/test/far";
    ServiceManager manager_;
    std::optional<Process> process_;
    std::optional<Lacpdus> of_partners_, ours_;

private:
    void start() {
        raise_descriptor_limit(); // two for each port
        wires_.emplace(2 * teams(), FarSide::open);
        std::filesystem::create_directories("/run/teamd");
        for (const auto& folder : {near_, far_})
            std::filesystem::create_directories(folder + "/run");
        for (unsigned number = 1; number <= teams(); ++number) {
            const auto first = 2 * number - 1;
            const auto put = [&](const std::string& folder, const std::string& team, const auto& port) {
                std::ofstream(fmt::format("{}/{}.conf", folder, team))
                    << team_config(fast, ports_object(std::vector{port(first), port(first + 1)}), "", team);
            };
            put(near_, fmt::format("near{}", number), Cabling::port);
            put(far_, fmt::format("far{}", number), Cabling::far_end);
        }
        partners_.emplace(Process::start({.argv = fleet_command(far_), .in = &wires_->peer()}));
        of_partners_.emplace(wires_->host());
        ours_.emplace(wires_->peer());
        start_ours(fleet_command(near_));
        const auto set_up = [](const NetNs& in, const std::string& team) {
            return sh(in,
                      fmt::format("for n in $(seq {}); do ip link set {}$n up || exit; done", teams(), team))
                       .status == 0;
        };
        ASSERT_TRUE(set_up(wires_->host(), "near"));
        ASSERT_TRUE(
            eventually("all partners are there", [&] { return set_up(wires_->peer(), "far"); }, patience));
        const std::size_t all = 2 * teams();
        ASSERT_TRUE(eventually(
            "all distribute",
            [&] { return of_partners_->distributing() == all && ours_->distributing() == all; }, patience));
    }

    std::optional<Cabling> wires_;
    std::optional<Process> partners_;
};

TEST_F(LacpFleet, keeps_its_partners_over_kill_9) {
    for (int round = 0; round < rounds({.shown = 1, .measured = 3}); ++round) {
        manager_.forget();
        start_over();
        const auto begun = SteadyClock::now();
        process_->signal(SIGKILL);
        process_->wait(patience);
        const auto ended = since(begun);
        start_ours(manager_.with_store(fleet_command(near_)));
        const auto started = since(begun);
        std::this_thread::sleep_for(3s);
        fmt::print("{} teams: ended after {} ms, ready after {} ms, longest pause between LACPDUs {:.0f} ms, "
                   "{} partners left\n",
                   teams(), ended / 1ms, started / 1ms, ours_->longest_pause().count(), of_partners_->left());
        EXPECT_EQ(0U, of_partners_->left());
        EXPECT_TRUE(at_most("ms between LACPDUs", ours_->longest_pause().count(),
                            {.promised = 1500, .defect = 3000}));
    }
}

/// Root asks one team for its state without a pause, on four connections: the other teams send in time.
TEST_F(LacpFleet, sends_in_time_while_a_client_floods_one_team) {
    std::filesystem::create_symlink(near_ + "/run/near1.sock", "/run/teamd/near1.sock");
    std::vector<ControlSocket> floods;
    while (floods.size() < 4)
        floods.push_back(std::move(*ControlSocket::to("near1")));
    start_over();
    std::size_t answers = 0;
    for (const auto begun = SteadyClock::now(); since(begun) < 10s;)
        for (const auto& one : floods)
            while (one.send("REQUEST\nStateDump\n"))
                if (one.receive(0ms)) ++answers;
    fmt::print("{} teams, {} answers in 10 s: longest pause between LACPDUs {:.0f} ms\n", teams(), answers,
               ours_->longest_pause().count());
    EXPECT_EQ(0U, of_partners_->left());
    EXPECT_TRUE(
        at_most("ms between LACPDUs", ours_->longest_pause().count(), {.promised = 1500, .defect = 3000}));
    std::filesystem::remove("/run/teamd/near1.sock");
}

} // namespace
} // namespace teamo::test
