// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What TEAMO_TEAMS=512 teams of two ports cost, in one process and in one each: the time until all carry,
// memory, and CPU time at rest, for a link that changes, and if all links go and come back. And how often one
// team at rest wakes its daemon, where the kernel takes fentry programs and where it refuses them.
//
// lab: TeamAtRest.* by bpf on newest, 30 s, compare
#include "kernel/files/process_files.h"
#include "netns/configs.h"
#include "netns/measure/teams.h"
#include "support/daemon/address_space.h"
#include "support/daemon/control_socket.h"
#include "support/daemon/service_manager.h"
#include "support/daemon/usage.h"
#include "support/figure.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

namespace teamo::test {
namespace {

using Seconds = std::chrono::duration<double>;
using Milliseconds = std::chrono::duration<double, std::milli>;

std::string name_of(unsigned team) { return fmt::format("team{}", team); }

Seconds since_exactly(SteadyClock::time_point begun) { return SteadyClock::now() - begun; }

/// Of the maps and programs that a process has opened, by their number, so that each counts once.
void add_kernel_memory(pid_t process, std::map<std::string, double>& of) {
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fdinfo", process))) {
        std::ifstream file(entry.path());
        std::string number;
        double bytes = 0;
        for (std::string word, value; file >> word >> value;) {
            if (word == "memlock:") bytes = std::stod(value);
            if (word == "map_id:" || word == "prog_id:") number = word + value;
        }
        if (!number.empty()) of[number] = bytes;
    }
}

enum class Processes { one, one_each };

class FleetCost : public testing::TestWithParam<Processes> {
protected:
    void SetUp() override {
        if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
        raise_descriptor_limit();
        wires_.emplace(2 * teams(), FarSide::open);
        std::filesystem::create_directories(folder_);
        for (unsigned team = 0; team < teams(); ++team) {
            const std::vector ports{Cabling::port(2 * team + 1), Cabling::port(2 * team + 2)};
            std::ofstream(file_of(team)) << team_config(by_flow, ports_object(ports), "", name_of(team));
        }
    }

    /// Until all have started.
    Seconds start() {
        manager_.forget();
        processes_.clear();
        const auto begun = SteadyClock::now();
        const auto start = [this](const std::vector<std::string>& arguments) {
            processes_.push_back(
                Process::start({.argv = daemon_command(arguments), .environment = manager_.environment()}));
        };
        if (GetParam() == Processes::one)
            start({"--all", "--config-directory", folder_});
        else
            for (unsigned team = 0; team < teams(); ++team)
                start({"-f", file_of(team)});
        const auto all = [this] { return lines_with(manager_.said(), "READY=1") >= processes_.size(); };
        if (const auto ready = eventually("all are ready", all, patience); !ready)
            throw SetupError(fmt::format("{} of {} processes are ready",
                                         lines_with(manager_.said(), "READY=1"), processes_.size()));
        return since_exactly(begun);
    }
    void kill() {
        for (const auto& one : processes_)
            one.signal(SIGKILL);
        for (auto& one : processes_)
            one.wait(patience);
    }
    static testing::AssertionResult all_carry() {
        for (unsigned team = 0; team < teams(); ++team)
            for (const auto port : {2 * team + 1, 2 * team + 2}) {
                const auto item = fmt::format("ports.{}.datapath.transmits", Cabling::port(port));
                const auto carries = [&] {
                    const auto socket = ControlSocket::to(name_of(team));
                    return socket && payload_of(socket->ask("StateItemValueGet", {item})) == "true";
                };
                if (const auto done = eventually(name_of(team) + " carries", carries); !done) return done;
            }
        return testing::AssertionSuccess();
    }
    double own_mib() const {
        double kib = 0;
        for (const auto& one : processes_)
            kib += static_cast<double>(own_memory_kib(one.pid()));
        return kib / 1024;
    }
    double kernel_mib() const {
        std::map<std::string, double> bytes;
        for (const auto& one : processes_)
            add_kernel_memory(one.pid(), bytes);
        double sum = 0;
        for (const auto& [number, size] : bytes)
            sum += size;
        return sum / (1 << 20);
    }
    /// Of all processes, while `action` runs.
    template <class Action>
    Milliseconds used_by(const Action& action) const {
        const auto before = used();
        action();
        return used() - before;
    }
    /// Sets the far ends of all cables, in one request after the other.
    void set_all(std::string_view state) const {
        std::string lines;
        for (unsigned number = 1; number <= wires_->ports(); ++number)
            lines += fmt::format("link set {} {}\n", Cabling::far_end(number), state);
        wires_->peer().ip(lines);
    }
    /// Each of one team, a twentieth of a second apart.
    void change_links() const {
        for (unsigned change = 0; change < changes; ++change) {
            const auto number = 1 + 2 * (change / 2 % teams());
            change % 2 == 0 ? wires_->pull(number) : wires_->plug(number);
            std::this_thread::sleep_for(50ms);
        }
    }

    static constexpr auto patience = 300s;
    static constexpr unsigned changes = 40;

private:
    Milliseconds used() const {
        Milliseconds sum{};
        for (const auto& one : processes_)
            sum += cpu_time(one.pid());
        return sum;
    }
    std::string file_of(unsigned team) const { return fmt::format("{}/{}.conf", folder_, name_of(team)); }

    const std::string folder_ = "/run/test/fleet";
    ServiceManager manager_;
    std::optional<Cabling> wires_;
    std::vector<Process> processes_;
};
INSTANTIATE_TEST_SUITE_P(Of, FleetCost, testing::Values(Processes::one, Processes::one_each),
                         [](const auto& kind) {
                             return kind.param == Processes::one ? "one_process" : "one_process_each";
                         });

TEST_P(FleetCost, is_small) {
    const auto started = start();
    ASSERT_TRUE(all_carry());
    const auto settled = std::chrono::milliseconds(5'000);
    std::this_thread::sleep_for(settled);
    const auto memory = own_mib();
    std::vector<double> rest, change;
    for (int round = 0; round < 5; ++round) {
        const auto begun = SteadyClock::now();
        const auto with = used_by([this] { change_links(); });
        const auto length = since_exactly(begun);
        std::this_thread::sleep_for(1s); // what follows a change
        const auto without = used_by([length] { std::this_thread::sleep_for(length); });
        rest.push_back(without / Milliseconds(length) * 100);
        change.push_back((with - without).count() / changes);
    }
    const auto quiet = used_by([] { std::this_thread::sleep_for(10s); });
    const auto flap = used_by([this, settled] {
        set_all("down");
        std::this_thread::sleep_for(settled);
        set_all("up");
        std::this_thread::sleep_for(settled);
    });
    ASSERT_TRUE(all_carry());
    const auto in_kernel = kernel_mib();
    kill();
    const auto adopted = start();
    ASSERT_TRUE(all_carry());
    fmt::print(
        "{} teams, {}: started in {:.2f} s, {:.1f} MiB of own memory, {:.1f} MiB of maps and programs, "
        "{:.3f} % of a CPU at rest, {:.2f} ms of CPU for a link change, {:.0f} ms if all go and come "
        "back, adopted in {:.2f} s after kill -9\n",
        teams(), GetParam() == Processes::one ? "one process" : "one process each", started.count(), memory,
        in_kernel, median(rest), median(change), (flap - quiet).count(), adopted.count());
    if (GetParam() != Processes::one) return;
    EXPECT_TRUE(at_most("s to start", started.count(), {.promised = 20, .defect = 60}));
    EXPECT_TRUE(at_most("MiB of own memory", memory, {.promised = 64, .defect = 128}));
    EXPECT_TRUE(at_most("% of a CPU at rest", median(rest), {.promised = 2, .defect = 10}));
    EXPECT_TRUE(at_most("ms of CPU for a link change", median(change), {.promised = 2, .defect = 10}));
}

/// The kernel delays the events of these ports, as it does for cards.
TEST(TeamAtRest, wakes_its_daemon_seldom) {
    if (!promises_enforced()) GTEST_SKIP() << "only in ./quickstart measure";
    for (const auto runner : {by_flow, activebackup}) {
        const Cabling wires(2, FarSide::open, LinkEvents::delayed);
        const TeamUnderTest team(team_config(runner, ports_object(2)), {"-g"});
        ASSERT_TRUE(team.await_link("eth1"));
        ASSERT_TRUE(team.await_link("eth2"));
        std::this_thread::sleep_for(5s);
        const auto begun = SteadyClock::now();
        const auto woken = sleeps(team.pid());
        const auto used = cpu_time(team.pid());
        std::this_thread::sleep_for(20s);
        const auto share = Milliseconds(cpu_time(team.pid()) - used) / Milliseconds(since_exactly(begun));
        const auto often = static_cast<double>(sleeps(team.pid()) - woken) / since_exactly(begun).count();
        const bool polls = team.log().find("lost carriers are polled") != std::string::npos;
        fmt::print("{}, {}: {:.1f} wake-ups a second, {:.3f} % of a CPU\n", runner,
                   polls ? "without fentry" : "with fentry", often, 100 * share);
        if (polls && runner == activebackup)
            continue; // its announcement cannot wait: a hundred times a second
        EXPECT_TRUE(at_most("wake-ups a second", often, {.promised = 2, .defect = 10}));
    }
}

} // namespace
} // namespace teamo::test
