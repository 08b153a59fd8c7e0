// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Zero traffic: one host that repeats ARP requests for others takes the CPU of the rest. What it costs, and
// what the guard leaves.
//
// A pair of veth devices has no interrupt: the sender's thread also does what the receiver's softirq would
// do. So it runs on the CPU of the receiving host with real-time priority, and what it needs to send is
// subtracted: all figures are shares of those beside a sender whose cable has no other end.
#include "netns/configs.h"
#include "netns/traffic/foreign_programs.h"
#include "support/figure.h"
#include "support/traffic/frames.h"
#include "support/traffic/on_cpu.h"

#include <arpa/inet.h>
#include <bpf/libbpf.h>
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
constexpr unsigned least_rate = 500'000, first_rate = 680'000; // packets per second
constexpr double wanted_load = 7. / 8;                         // of the host's CPU, without the guard
constexpr const char* far_address = "10.0.0.2";

/// Sends ARP requests for another host by a device, an XDP program of which redirects them (BPF_PROG_TEST_RUN
/// with live frames): so the receiving device takes them from a ring, in batches, as a card's driver does.
class ArpSender {
public:
    ArpSender(const NetNs& from, const char* device) {
        from.inside([this, device] { program_ = redirect(static_cast<int>(if_nametoindex(device))); });
    }
    /// By a thread of the namespace. False: the device refused.
    bool send(unsigned frames) const {
        LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame_.data(),
                    .data_size_in = static_cast<__u32>(frame_.size()), .repeat = static_cast<int>(frames),
                    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = 64);
        return bpf_prog_test_run_opts(program_.get(), &run) == 0;
    }

private:
    static UniqueFd redirect(int device) {
        const std::array program{
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, device),
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 0),
            instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect),
            instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
        };
        auto loaded = load_program(BPF_PROG_TYPE_XDP, program);
        if (!loaded) throw SetupError("cannot load the program that sends");
        return loaded;
    }
    UniqueFd program_;
    Bytes frame_ = arp_request(mac("02:00:00:00:07:07"), "10.0.0.77", "10.0.0.99");
};

/// Sends them in bursts, with real-time priority on the host's CPU.
class ArpStorm {
public:
    /// `rate`: packets per second.
    ArpStorm(const NetNs& from, const char* device, unsigned rate)
        : sender_(from, device), burst_(rate / senders / bursts) {
        from.inside([this] {
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

    void send() {
        const OnCpu here(host_cpu);
        const sched_param first{.sched_priority = 1};
        sched_setscheduler(0, SCHED_FIFO, &first); // of this thread
        constexpr auto period = 1000ms / bursts;
        for (auto due = SteadyClock::now(); !ends_;
             due = std::max(due + period, SteadyClock::now() - period)) {
            std::this_thread::sleep_until(due);
            if (sender_.send(burst_)) sent_ += burst_;
        }
    }
    ArpSender sender_;
    unsigned burst_;
    std::atomic<bool> ends_ = false;
    std::atomic<std::uint64_t> sent_ = 0;
    std::vector<std::thread> threads_;
};

/// A filter in front of the guard that drops every frame. What is left then no filter can spare.
class DropsAtOnce {
public:
    DropsAtOnce(const NetNs& in, const char* device) : in_(in) {
        const std::array program{instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, TC_ACT_SHOT),
                                 instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
        const auto loaded = load_program(BPF_PROG_TYPE_SCHED_CLS, program);
        in_.inside([&] { hook_.ifindex = static_cast<int>(if_nametoindex(device)); });
        LIBBPF_OPTS(bpf_tc_opts, options, .prog_fd = loaded.get(), .handle = 1, .priority = 1);
        if (in_.inside([&] { return bpf_tc_attach(&hook_, &options); }) < 0)
            throw SetupError("cannot attach a program that drops");
    }
    DropsAtOnce(const DropsAtOnce&) = delete;
    DropsAtOnce& operator=(const DropsAtOnce&) = delete;
    ~DropsAtOnce() {
        LIBBPF_OPTS(bpf_tc_opts, options, .handle = 1, .priority = 1);
        in_.inside([&] { return bpf_tc_detach(&hook_, &options); });
    }

private:
    const NetNs& in_;
    bpf_tc_hook hook_{.sz = sizeof(bpf_tc_hook), .ifindex = 0, .attach_point = BPF_TC_INGRESS, .parent = 0};
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

/// The rate of a storm that loads the host's CPU as wanted, after one of this rate made this load. In small
/// steps, because the speed of a virtual CPU changes all the time.
unsigned next_rate(unsigned rate, double load) {
    const auto step = std::clamp(wanted_load / load, 0.9, 1.15);
    return std::max(least_rate, static_cast<unsigned>(rate * step));
}

/// The rate of a storm of the wanted load, by the median of three samples: a fast machine needs a fast one.
/// The guard is off. Ends where the sender itself takes half of the CPU.
unsigned rate_of_wanted_load(const NetNs& from) {
    const auto left = [&](const char* device, unsigned rate) {
        const ArpStorm storm(from, device, rate);
        std::this_thread::sleep_for(50ms);
        return cpu_left(600ms); // three bursts of each sender
    };
    for (unsigned rate = first_rate;;) {
        std::vector<double> alone, loads;
        for (int sample = 0; sample < 3; ++sample) {
            alone.push_back(left("nowhere", rate));
            loads.push_back(1 - left("p1", rate) / alone.back());
        }
        if (median(alone) < 0.5 || median(loads) >= wanted_load) return rate;
        rate = next_rate(rate, std::max(median(loads), 0.1));
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
            if (poll(&ready, 1, 1000) != 1 || recv(client_.get(), &byte, 1, 0) != 1) break;
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

/// A team of one port with the guard, and a neighbour whose device "nowhere" leads to none.
class ZeroTraffic : public testing::Test {
protected:
    void SetUp() override {
        if (usable_cpus().size() < 2) GTEST_SKIP() << "one CPU";
        ASSERT_TRUE(team.await_link("eth1"));
        must(wires.host(), "ethtool -K eth1 gro off; ethtool -K eth1 gro on"); // gives it a ring
        wires.host().ip(fmt::format("addr add {}/24 dev team0\nlink set team0 up", team_v4));
        wires.peer().ip(fmt::format("addr add {}/24 dev p1", far_address));
        wires.peer().ip(
            "link add dev nowhere type veth peer name lost\nlink set nowhere up"); // the other end is down
    }
    void set_guard(std::string_view mode) const {
        std::ofstream(team.item("setup.config_file")) << guarded(mode);
        EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    }

    const Cabling wires{1, FarSide::open};
    const TeamUnderTest team{guarded("off")};
};

TEST_F(ZeroTraffic, costs_a_third_with_the_guard) {
    const auto cost = [&](const char* device) { // ns of a request
        const ArpSender sender(wires.peer(), device);
        return wires.peer().inside([&] {
            const OnCpu here(host_cpu);
            constexpr unsigned frames = 200'000;
            EXPECT_TRUE(sender.send(frames / 10));
            const auto start = SteadyClock::now();
            EXPECT_TRUE(sender.send(frames));
            return std::chrono::duration<double, std::nano>(SteadyClock::now() - start).count() / frames;
        });
    };
    std::vector<double> by_stack, by_guard, at_once, of_stack, of_dropping;
    for (int round = 0; round < rounds({.shown = 5, .measured = 31}); ++round) {
        const double sending = cost("nowhere");
        set_guard("off");
        by_stack.push_back(cost("p1") - sending);
        set_guard("full");
        by_guard.push_back(cost("p1") - sending);
        ASSERT_GE(std::stoull(team.item("guard.dropped.arp_request")), 200'000U) << "they do not come";
        const DropsAtOnce first(wires.host(), "eth1");
        at_once.push_back(cost("p1") - sending);
        of_stack.push_back(by_guard.back() / by_stack.back());
        of_dropping.push_back(by_guard.back() / at_once.back());
    }
    fmt::print(
        "a request takes {:.0f} ns of the stack, {:.0f} ns with the guard, {:.0f} ns if dropped at once\n",
        median(by_stack), median(by_guard), median(at_once));
    // A storm that takes 7/8 of a CPU leaves 1/8, and with this share of it 0.70: 5.6 times as much.
    EXPECT_TRUE(
        at_most("times the cost without the guard", median(of_stack), {.promised = 0.34, .defect = 0.8}));
    EXPECT_TRUE(
        at_most("times the cost of dropping at once", median(of_dropping), {.promised = 2, .defect = 4}));
}

TEST_F(ZeroTraffic, is_stopped_by_the_guard) {
    // A guard that costs too much shows above, in a tenth of the time.
    if (!promises_enforced()) GTEST_SKIP() << "takes minutes: only by ./quickstart measure";
    const RequestResponse talk(wires.host(), wires.peer());

    auto rate = rate_of_wanted_load(wires.peer());
    constexpr auto time = 1s;
    std::map<std::string, std::vector<double>> cpu, answers, rates;
    // A storm without the guard leaves work behind: each mode is first, second and last equally often.
    std::array modes{"off", "arp", "full"};
    for (int round = 0; round < 9; ++round) {
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
        rate = next_rate(rate, 1 - cpu["off"].back());
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
