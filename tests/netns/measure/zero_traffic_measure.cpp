// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Zero traffic: one host that repeats ARP requests for others takes the CPU of the rest. What it costs, and
// what the guard leaves.
//
// A pair of veth devices has no interrupt: the sender's thread also does what the receiver's softirq would
// do. So it runs on the CPU of the receiving host with real-time priority, and what it needs to send is
// subtracted: all figures are shares of those beside a sender whose cable has no other end.
#include "netns/configs.h"
#include "support/figure.h"
#include "support/traffic/frames.h"
#include "support/traffic/on_cpu.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <thread>

namespace teamo::test {
namespace {

constexpr unsigned far_cpu = 0, host_cpu = 1;
constexpr unsigned least_rate = 680'000; // packets per second
constexpr const char* far_address = "10.0.0.2";

/// ARP requests for another host, sent by a device in bursts. An XDP program sends them (BPF_PROG_TEST_RUN
/// with live frames), so that the receiving device takes them from a ring, in batches, as a card's driver
/// does.
class ArpStorm {
public:
    /// `rate`: packets per second.
    ArpStorm(const NetNs& from, const char* device, unsigned rate) : burst_(rate / senders / bursts) {
        from.inside([this, device] {
            program_ = sender(if_nametoindex(device));
            for (unsigned number = 0; number < senders; ++number)
                threads_.emplace_back([this] { send(); }); // stays in this namespace
        });
    }
    ~ArpStorm() {
        ends_ = true;
        for (auto& thread : threads_)
            thread.join();
    }
    std::uint64_t sent() const { return sent_; }

private:
    static constexpr unsigned senders = 2; ///< after each burst the kernel keeps a sender waiting for a while
    static constexpr unsigned bursts = 5;  ///< per second

    static UniqueFd sender(unsigned device) {
        const std::array<bpf_insn, 4> code{
            bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K,
                     .dst_reg = 1,
                     .src_reg = 0,
                     .off = 0,
                     .imm = static_cast<__s32>(device)},
            bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .src_reg = 0, .off = 0, .imm = 0},
            bpf_insn{
                .code = BPF_JMP | BPF_CALL, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = BPF_FUNC_redirect},
            bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        UniqueFd program(
            bpf_prog_load(BPF_PROG_TYPE_XDP, "sender", "GPL", code.data(), code.size(), nullptr));
        if (program.get() < 0) throw SetupError("cannot load the program that sends");
        return program;
    }
    void send() {
        const OnCpu here(host_cpu);
        const sched_param first{.sched_priority = 1};
        sched_setscheduler(0, SCHED_FIFO, &first); // of this thread
        const auto frame = arp_request(mac("02:00:00:00:07:07"), "10.0.0.77", "10.0.0.99");
        LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame.data(),
                    .data_size_in = static_cast<__u32>(frame.size()), .repeat = static_cast<int>(burst_),
                    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = 64);
        constexpr auto period = 1000ms / bursts;
        for (auto due = SteadyClock::now(); !ends_;
             due = std::max(due + period, SteadyClock::now() - period)) {
            std::this_thread::sleep_until(due);
            if (bpf_prog_test_run_opts(program_.get(), &run) == 0) sent_ += run.repeat;
        }
    }
    unsigned burst_;
    UniqueFd program_;
    std::atomic<bool> ends_ = false;
    std::atomic<std::uint64_t> sent_ = 0;
    std::vector<std::thread> threads_;
};

/// The share of the host's CPU that a busy program gets in this time: the steps of work that it does, times
/// what the median step takes. How fast a virtual CPU works changes with what its neighbours do, from second
/// to second; and softirqs that interrupt a thread count as its CPU time.
double cpu_left(std::chrono::milliseconds time) {
    const OnCpu here(host_cpu);
    std::vector<double> steps; // seconds
    steps.reserve(1'000'000);
    volatile unsigned sink = 0;
    const auto start = SteadyClock::now();
    auto now = start;
    while (now - start < time) {
        const auto begun = now;
        for (unsigned count = 0; count < 5'000; ++count)
            sink = sink + count;
        now = SteadyClock::now();
        steps.push_back(std::chrono::duration<double>(now - begun).count());
    }
    const auto elapsed = std::chrono::duration<double>(now - start).count();
    return static_cast<double>(steps.size()) * median(steps) / elapsed;
}

/// The rate of a storm that leaves less than an eighth of the host's CPU, in three samples: a fast machine
/// needs a fast one. The guard is off. Ends where the sender itself takes half of the CPU.
unsigned rate_that_takes_the_cpu(const NetNs& from) {
    const auto left = [&](const char* device, unsigned rate) {
        const ArpStorm storm(from, device, rate);
        std::this_thread::sleep_for(50ms);
        return cpu_left(600ms); // three bursts of each sender
    };
    for (unsigned rate = least_rate, samples = 0;;) {
        const double alone = left("nowhere", rate);
        samples = alone < 0.5 || left("p1", rate) < alone / 8 ? samples + 1 : 0;
        if (samples == 3) return rate;
        if (samples == 0) rate += promises_enforced() ? rate / 24 : rate / 8;
    }
}

/// A server in the host and a client in the far namespace that exchange one byte in turn.
class RequestResponse {
public:
    RequestResponse(const NetNs& host, const NetNs& far) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(7007);
        inet_pton(AF_INET, team_v4, &address.sin_addr);
        const auto* to = reinterpret_cast<const sockaddr*>(&address);
        const UniqueFd listener(host.inside([] { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }));
        if (bind(listener.get(), to, sizeof address) < 0 || listen(listener.get(), 1) < 0)
            throw SetupError("cannot listen");
        client_ = UniqueFd(far.inside([] { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }));
        if (connect(client_.get(), to, sizeof address) < 0) throw SetupError("cannot connect");
        server_ = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        const int yes = 1;
        for (const auto* end : {&client_, &server_})
            setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        thread_ = std::thread([this] {
            const OnCpu here(host_cpu);
            char byte = 0;
            while (recv(server_.get(), &byte, 1, 0) == 1)
                if (::send(server_.get(), &byte, 1, MSG_NOSIGNAL) != 1) return;
        });
    }
    ~RequestResponse() {
        shutdown(client_.get(), SHUT_RDWR);
        thread_.join();
    }
    /// Answers in this time.
    double answers(std::chrono::milliseconds time) const {
        const OnCpu here(far_cpu);
        double count = 0;
        char byte = 'x';
        for (const auto start = SteadyClock::now(); SteadyClock::now() - start < time; ++count) {
            if (::send(client_.get(), &byte, 1, MSG_NOSIGNAL) != 1) break;
            pollfd ready{.fd = client_.get(), .events = POLLIN, .revents = 0};
            if (poll(&ready, 1, 1000) == 1 && recv(client_.get(), &byte, 1, 0) != 1) break;
        }
        return count;
    }

private:
    UniqueFd client_, server_;
    std::thread thread_;
};

std::string guarded(std::string_view mode) {
    auto config = team_config(activebackup, ports_object(1));
    return config.insert(1, fmt::format(R"("guard": "{}", )", mode));
}

TEST(ZeroTraffic, is_stopped_by_the_guard) {
    if (usable_cpus().size() < 2) GTEST_SKIP() << "one CPU";
    const Cabling wires(1, FarSide::open);
    const TeamUnderTest team(guarded("off"));
    ASSERT_TRUE(team.await_link("eth1"));
    must(wires.host(), "ethtool -K eth1 gro off; ethtool -K eth1 gro on"); // gives it a ring
    wires.host().ip(fmt::format("addr add {}/24 dev team0\nlink set team0 up", team_v4));
    wires.peer().ip(fmt::format("addr add {}/24 dev p1", far_address));
    wires.peer().ip(
        "link add dev nowhere type veth peer name lost\nlink set nowhere up"); // the other end is down
    const auto set_guard = [&](std::string_view mode) {
        std::ofstream(team.item("setup.config_file")) << guarded(mode);
        EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    };
    const RequestResponse talk(wires.host(), wires.peer());

    const auto rate = rate_that_takes_the_cpu(wires.peer());
    constexpr auto time = 1s;
    std::map<std::string, std::vector<double>> cpu, answers, rates;
    // A storm without the guard leaves work behind: each mode is first, second and last equally often.
    std::array modes{"off", "arp", "full"};
    for (int round = 0; round < rounds({.shown = 1, .measured = 9}); ++round) {
        double cpu_alone = 0, answers_alone = 0;
        {
            const ArpStorm storm(wires.peer(), "nowhere", rate);
            cpu_alone = cpu_left(time);
            answers_alone = talk.answers(time);
        }
        for (const auto* mode : modes) {
            set_guard(mode);
            const ArpStorm storm(wires.peer(), "p1", rate);
            std::this_thread::sleep_for(50ms);
            const auto before = storm.sent();
            const auto start = SteadyClock::now();
            cpu[mode].push_back(cpu_left(time) / cpu_alone);
            answers[mode].push_back(talk.answers(time) / answers_alone);
            rates[mode].push_back(static_cast<double>(storm.sent() - before) /
                                  std::chrono::duration<double>(SteadyClock::now() - start).count());
        }
        std::ranges::rotate(modes, modes.begin() + 1);
    }
    for (const auto* mode : {"off", "arp", "full"})
        fmt::print("{}: {:.0f} ARP requests/s; of a CPU are left {:.3f}; of the answers {:.3f}\n", mode,
                   median(rates[mode]), median(cpu[mode]), median(answers[mode]));
    EXPECT_GE(std::stoull(team.item("guard.dropped.arp_request")), 1000U);
    for (const auto* mode : {"arp", "full"}) {
        EXPECT_TRUE(at_least("times the CPU that is left without the guard",
                             median(cpu[mode]) / std::max(median(cpu["off"]), 1e-3),
                             {.promised = 5, .defect = 1.2}));
        EXPECT_TRUE(at_least("of the answers", median(answers[mode]), {.promised = 0.7, .defect = 0.2}));
    }
}

} // namespace
} // namespace teamo::test
