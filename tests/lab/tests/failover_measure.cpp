// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The cost of a pulled cable of a real port, with our team and with the drivers that we compare with, in one
// boot: packets lost at a known rate between the guest and a counter outside.
//
// lab: Failover.* in -k 6.12 -p 2, compare
#include "lab/guest.h"
#include "lab/lab.h"
#include "lab/numbered.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace teamo::test {
namespace {

constexpr unsigned rate = 2'000, pulls = 20;
constexpr const char* far_address = "10.9.0.2";
constexpr std::uint16_t far_port = 7000;
constexpr const char* config =
    R"({"device": "team0", "runner": {"name": "activebackup"}, "ports": {"eth0": {}, "eth1": {}}})";

/// A way to create an activebackup device team0 over eth0 and eth1; removed at the end.
struct Contender {
    std::string name;
    std::function<void()> make, freeze, unmake;
};

/// A bond in active-backup, as another program makes it.
void make_bond(unsigned miimon) {
    in_guest(
        fmt::format("modprobe bonding max_bonds=0; ip link add team0 type bond mode active-backup miimon {}; "
                    "ip link set eth0 master team0; ip link set eth1 master team0",
                    miimon));
}
void remove_bond() { in_guest("ip link del team0; ip link set eth0 down; ip link set eth1 down"); }

/// Our daemon, which `start` starts; `remove`: after its end.
Contender by_daemon(std::string name, bool frozen, std::function<void(std::optional<TeamUnderTest>&)> start,
                    std::function<void()> remove) {
    static std::optional<TeamUnderTest> ours;
    return {.name = std::move(name),
            .make = [start = std::move(start)] { start(ours); },
            .freeze =
                [frozen] {
                    if (frozen) ours->signal(SIGSTOP);
                },
            .unmake =
                [remove = std::move(remove)] {
                    ours->signal(SIGCONT);
                    EXPECT_EQ(0, ours->stop());
                    ours.reset();
                    remove();
                }};
}

std::vector<Contender> contenders() {
    const auto with = [](const char* datapath, bool frozen = false) {
        return by_daemon(
            fmt::format("this daemon{}, {}", frozen ? " frozen" : "", datapath), frozen,
            [datapath](auto& ours) {
                ours.emplace(config, std::vector<std::string>{"--datapath", datapath});
            },
            [] {});
    };
    const auto bonding = [](unsigned miimon) {
        return Contender{.name = fmt::format("bonding, miimon={}", miimon),
                         .make = [miimon] { make_bond(miimon); },
                         .freeze = [] {},
                         .unmake = remove_bond};
    };
    return {
        with("team"),
        with("bond"),
        with("bpf"),
        with("bond", true),
        with("bpf", true),
        {.name = "teamd 1.31",
         .make =
             [] { in_guest(fmt::format("teamd -d -t team0 -c '{}' </dev/null >/dev/null 2>&1", config)); },
         .freeze = [] {},
         .unmake = [] { in_guest("teamd -k -t team0"); }},
        bonding(100),
        bonding(10)};
}

/// The port that sends.
unsigned active_port() {
    const auto sent = [](const char* port) { return counters(NetNs::current(), port).tx_packets; };
    for (;;) {
        const auto first = sent("eth0"), second = sent("eth1");
        std::this_thread::sleep_for(50ms);
        const auto by_first = sent("eth0") - first, by_second = sent("eth1") - second;
        if (by_first != 0 || by_second != 0) return by_first > by_second ? 0 : 1;
    }
}

void await_links() {
    for (const auto* port : {"eth0", "eth1"})
        if (!eventually("link", [port] { return look(NetNs::current(), port).operstate == "UP"; }, 20s))
            throw SetupError(std::string(port) + " has no link");
}

/// That bond, alone and with the daemon as its guest.
std::vector<Contender> guests() {
    const auto attached = [](bool frozen) {
        return by_daemon(
            fmt::format("attached{}, miimon=100", frozen ? " frozen" : ""), frozen,
            [](auto& ours) {
                make_bond(100);
                in_guest("ip link set team0 up");
                ours.emplace(R"({"device": "team0", "attach": true})", std::vector<std::string>{}, "team0");
                EXPECT_TRUE(ours->await_item("attached.steered", "true", 20s));
            },
            remove_bond);
    };
    return {{.name = "bonding, miimon=100",
             .make = [] { make_bond(100); },
             .freeze = [] {},
             .unmake = remove_bond},
            attached(false),
            attached(true)};
}

std::uint64_t median(std::vector<std::uint64_t> values) {
    std::ranges::sort(values);
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::vector<std::uint64_t> pull_cables(const std::function<void()>& freeze) {
    in_guest("ip addr add 10.9.0.1/24 dev team0; ip link set team0 up");
    await_links();
    const NumberedStream stream(far_address, far_port, rate);
    std::vector<std::uint64_t> lost;
    EXPECT_TRUE(stream.flows(1'000));
    freeze();
    for (unsigned pull = 0; pull < pulls; ++pull) {
        EXPECT_TRUE(stream.flows(1'000)) << "packets must not be lost before a pull";
        const auto port = active_port();
        const auto first = stream.next();
        Lab::pull(port);
        EXPECT_TRUE(stream.flows(500));
        const auto end = stream.next() - 200;
        lost.push_back(stream.missing(first, end));
        Lab::plug(port);
        await_links();
    }
    return lost;
}

class Failover : public testing::Test {
public:
    static void SetUpTestSuite() {
        Lab::must_peer(
            "ip link add br0 type bridge; ip link set tap0 master br0; ip link set tap1 master br0; "
            "ip addr add 10.9.0.2/24 dev br0; ip link set br0 up; "
            "build/bin/teamo-lab count 7000 </dev/null >/dev/null 2>&1 &");
    }
};

/// The median of each.
std::vector<std::pair<std::string, std::uint64_t>> compare(const std::vector<Contender>& all) {
    std::vector<std::pair<std::string, std::uint64_t>> medians;
    fmt::print("{:<24} {:>7} {:>6}   packets lost in each of {} pulls at {}/s\n", "", "median", "worst",
               pulls, rate);
    for (const auto& contender : all) {
        contender.make();
        const auto lost = pull_cables(contender.freeze);
        contender.unmake();
        fmt::print("{:<24} {:>7} {:>6}   {}\n", contender.name, median(lost), std::ranges::max(lost),
                   fmt::join(lost, " "));
        medians.emplace_back(contender.name, median(lost));
    }
    return medians;
}

TEST_F(Failover, no_slower_than_others) {
    std::uint64_t ours = 0, others = UINT64_MAX;
    for (const auto& [name, lost] : compare(contenders()))
        if (name.starts_with("this"))
            ours = std::max(ours, lost);
        else
            others = std::min(others, lost);
    constexpr auto millisecond = rate / 1'000;
    EXPECT_LE(ours, others + millisecond);
}

TEST_F(Failover, of_a_bond_of_others_is_sooner) {
    const auto medians = compare(guests());
    for (const auto& [name, lost] : medians)
        if (name.starts_with("attached")) {
            EXPECT_GT(medians.front().second, lost) << name;
        }
}

} // namespace
} // namespace teamo::test
