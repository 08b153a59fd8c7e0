// SPDX-License-Identifier: LGPL-2.1-or-later
//
// For each cable a process that receives from it: each is bound to the interrupt CPU of that port, with all
// its threads.
//
// lab: Workers.* in -k 6.1 -p 4 -c 4, 10 s
// lab: Workers.* in -k 6.1 -p 8 -c 8, 10 s, long
#include "base/cpu_list.h"
#include "base/handle.h"
#include "kernel/cpus/cpus.h"
#include "lab/guest.h"
#include "lab/irq_files.h"
#include "lab/lab.h"
#include "support/daemon/team_under_test.h"
#include "support/eventually.h"
#include "support/net/net_ns.h"
#include "support/net/socket_address.h"
#include "workers/child.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <list>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t first_port = 7000;

/// Receives from one client, and starts a thread every second.
int serve(unsigned number, int pipe) {
    ::prctl(PR_SET_NAME, fmt::format("fed-by-{}", number).c_str());
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress here("0.0.0.0", static_cast<std::uint16_t>(first_port + number));
    if (::bind(listener.get(), here.get(), here.size) < 0 || ::listen(listener.get(), 1) < 0) return 1;
    say(pipe);
    const UniqueFd client(::accept(listener.get(), nullptr, nullptr));
    std::vector<std::jthread> threads;
    auto next = SteadyClock::now();
    std::array<char, 65536> room{};
    while (::recv(client.get(), room.data(), room.size(), 0) > 0)
        if (SteadyClock::now() >= next && threads.size() < 20) {
            next = SteadyClock::now() + 1s;
            threads.emplace_back([](const std::stop_token& stop) {
                while (!stop.stop_requested())
                    std::this_thread::sleep_for(50ms);
            });
        }
    return 0;
}

/// The CPUs that the threads of a process may use, all together.
CpuList cpus_of(pid_t process) {
    CpuList all;
    std::error_code gone;
    for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
        all = united(std::move(all),
                     read_thread_affinity(std::stoi(task.path().filename())).value_or(CpuList{}));
    }
    return all;
}

std::size_t threads_of(pid_t process) {
    std::error_code gone;
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(fmt::format("/proc/{}/task", process), gone), {}));
}

class Workers : public testing::Test {
protected:
    static std::string config(unsigned ports) {
        std::string text =
            R"({"device": "team0", "runner": {"name": "loadbalance", "tx_hash": ["ipv4", "l4"]},
            "workers": [{"command": "fed-by-*", "policy": "follow"}], "ports": {)";
        for (unsigned port = 0; port < ports; ++port)
            text += fmt::format(R"({}"eth{}": {{}})", port == 0 ? "" : ", ", port);
        return text + "}}";
    }

    /// A network for each cable; replies may use any cable.
    void lay_networks() const {
        const auto team_mac =
            std::string(run({.argv = {"cat", "/sys/class/net/team0/address"}}).out.substr(0, 17));
        // All far ends have the same address, so that a reply may arrive by any cable.
        constexpr auto far_mac = "02:00:00:00:99:01";
        std::string here = "sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.team0.rp_filter=0; ",
                    there = "ip link del br0 2>/dev/null; sysctl -qw net.ipv4.conf.all.rp_filter=0; ";
        for (unsigned port = 0; port < ports_; ++port) {
            here += fmt::format("ip addr add 10.9.{0}.1/24 dev team0; "
                                "ip neigh replace 10.9.{0}.2 lladdr {1} dev team0; ",
                                port, far_mac);
            there += fmt::format("ip link set tap{0} down; ip link set tap{0} address {2} up; "
                                 "sysctl -qw net.ipv4.conf.tap{0}.rp_filter=0; "
                                 "ip addr replace 10.9.{0}.2/24 dev tap{0}; "
                                 "ip neigh replace 10.9.{0}.1 lladdr {1} dev tap{0}; ",
                                 port, team_mac, far_mac);
        }
        in_guest(here);
        Lab::must_peer(there);
    }

    const unsigned ports_ = Lab::ports();
};

TEST_F(Workers, follows_the_interrupt_cpu_of_the_port) {
    TeamUnderTest team(config(ports_));
    in_guest("ip link set team0 up");
    lay_networks();
    std::list<Child> workers;
    for (unsigned number = 0; number < ports_; ++number) {
        workers.emplace_back([number](int pipe) { return serve(number, pipe); });
        workers.back().await_word();
    }
    for (unsigned number = 0; number < ports_; ++number)
        Lab::must_peer(fmt::format("bash -c 'while head -c 20000 /dev/zero && sleep 0.1; do :; done "
                                   "> /dev/tcp/10.9.{}.1/{}' </dev/null >/dev/null 2>&1 &",
                                   number, first_port + number));
    const auto start = SteadyClock::now();
    const auto wrong = [&]() -> std::string {
        const auto planned = planned_cpus(team);
        unsigned number = 0;
        for (const auto& worker : workers) {
            const auto port = fmt::format("eth{}", number++);
            if (!planned.contains(port) || cpus_of(worker.pid()) != planned.at(port))
                return fmt::format("the worker fed by {} runs on CPU {}", port,
                                   teamo::text_of(cpus_of(worker.pid())));
        }
        return "";
    };
    EXPECT_TRUE(eventually("each is on its port's CPU", [&] { return wrong().empty(); }, 20s)) << wrong();
    fmt::print("all on their CPUs after {} ms\n{}", since(start).count(), team.teamoctl({"workers"}).out);
    // A worker whose latest thread is not bound yet is shown without its reason.
    const auto last_port = fmt::format("(eth{})", ports_ - 1);
    EXPECT_TRUE(eventually(
        "its port is shown",
        [&] { return team.teamoctl({"workers"}).out.find(last_port) != std::string::npos; }, 20s));
    // New threads are bound too.
    EXPECT_TRUE(eventually("threads are made", [&] { return threads_of(workers.front().pid()) >= 6; }, 20s));
    EXPECT_EQ("", wrong());
    EXPECT_EQ(0, team.stop());
    for (const auto& worker : workers)
        EXPECT_EQ(cpus_of(::getpid()), cpus_of(worker.pid()));
}

} // namespace
} // namespace teamo::test
