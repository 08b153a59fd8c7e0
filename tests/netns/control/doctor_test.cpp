// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The problems that teamoctl doctor finds.
//
// lab: Doctor.* by none: it is the same with every datapath
#include "netns/configs.h"
#include "netns/connection.h"
#include "netns/life/operators.h"
#include "netns/traffic/foreign_programs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Sends continuously on a connection of its own.
class Flood {
public:
    explicit Flood(const Cabling& wires) : connection_(wires) {
        sink_ = std::jthread([this] {
            std::string buffer(1 << 18, ' ');
            while (::recv(connection_.far(), buffer.data(), buffer.size(), 0) > 0) {
            }
        });
        source_ = std::jthread([this] {
            const std::string buffer(1 << 18, 'x');
            while (::send(connection_.near(), buffer.data(), buffer.size(), MSG_NOSIGNAL) > 0) {
            }
        });
    }
    Flood(const Flood&) = delete;
    Flood& operator=(const Flood&) = delete;
    ~Flood() {
        ::shutdown(connection_.near(), SHUT_RDWR);
        ::shutdown(connection_.far(), SHUT_RDWR);
    }

private:
    Connection connection_;
    std::jthread sink_, source_; // last: they use the connection
};

TEST(Doctor, finds_nothing_in_a_healthy_team) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const auto said = ask(team, "doctor");
    EXPECT_EQ(0, said.status) << said.err;
    EXPECT_EQ("team0: nothing is wrong\n", said.out);
}

TEST(Doctor, reports_a_pulled_cable_and_lost_tso) {
    const Cabling wires(3, FarSide::lag_switch);
    const TeamUnderTest team(team_config(by_flow, ports_object(3), R"("offload": {"repair": false}, )"));
    bring_up(wires, team);
    ASSERT_EQ("team0: nothing is wrong\n", ask(team, "doctor").out);
    wires.pull(2);
    must(wires.host(), "ethtool -K eth3 tso off");
    ASSERT_TRUE(team.await_link("eth2", false));
    const auto said = ask(team, "doctor");
    EXPECT_EQ(1, said.status);
    EXPECT_EQ("team0: doctor: measures what the ports send, at most 1 s\n", said.err);
    EXPECT_EQ("warning: eth2: has no link: check the cable and the port of the switch\n"
              "    ethtool eth2\n"
              "warning: eth3: TSO is off: the CPU segments what leaves by it\n"
              "    ethtool -K eth3 tso on\n",
              said.out);
    wires.pull(1);
    wires.pull(3);
    ASSERT_TRUE(team.await_link("eth3", false));
    const auto worse = ask(team, "doctor", {"--json"});
    EXPECT_EQ(1, worse.status);
    EXPECT_THAT(worse.out, HasSubstr("no port carries"));
}

/// Runs `doctor` on one port behind a shaper that it fills; returns the output.
Output measured(const Cabling& wires, const TeamUnderTest& team) {
    const Flood flood(wires);
    const auto said = ask(team, "doctor --json --measure eth1");
    EXPECT_EQ("on", tso_of(wires.host(), "eth1"));
    return said;
}

/// The token bucket holds a whole GSO packet, so that tbf does not segment it.
void shape(const Cabling& wires) {
    must(wires.host(), "tc qdisc add dev eth1 root tbf rate 100mbit burst 256kb latency 50ms");
}

/// Broadcasts from the client: fifty per second, all different.
std::jthread broadcasts_of(const Cabling& wires) {
    auto socket = socket_in(wires.client(), AF_INET, SOCK_DGRAM);
    constexpr int yes = 1;
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes) < 0)
        throw SetupError(errno_text(errno));
    return std::jthread([socket = std::move(socket)](const std::stop_token& stop) {
        const SocketAddress all("10.0.0.255", service);
        for (unsigned number = 0; !stop.stop_requested(); ++number) {
            ::sendto(socket.get(), &number, sizeof number, 0, all.get(), all.size);
            std::this_thread::sleep_for(20ms);
        }
    });
}

TEST(Doctor, reports_a_switch_that_does_not_aggregate) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto broadcasts = broadcasts_of(wires);
    std::string said;
    EXPECT_TRUE(eventually(
        "doctor says so",
        [&] {
            said = team.teamoctl({"doctor"}).out;
            return said.find("the switch does not aggregate the ports") != std::string::npos;
        },
        20s))
        << said;
    EXPECT_THAT(said, HasSubstr("in a second arrived by more than one port"));
    EXPECT_THAT(said, HasSubstr("(eth1 and eth2)"));
}

TEST(Doctor, accepts_broadcasts_of_a_switch_that_aggregates) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto broadcasts = broadcasts_of(wires);
    ASSERT_TRUE(eventually("the broadcasts arrive", [&] {
        return counters(wires.host(), "eth1").rx_packets + counters(wires.host(), "eth2").rx_packets > 60;
    }));
    EXPECT_THAT(team.teamoctl({"doctor"}).out, Not(HasSubstr("aggregate")));
}

TEST(Doctor, does_not_blame_tso_without_a_difference) {
    const Cabling wires(1, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    shape(wires);
    const auto said = measured(wires, team);
    EXPECT_THAT(said.out, AllOf(HasSubstr("\"beyond_noise\": false"), HasSubstr("\"cpu_us_per_kib\": "),
                                Not(HasSubstr("% more without TSO"))));
}

/// A card that is slow with TSO: large packets wait in a queue of 40 Mbit/s, segmented ones do not. Nothing
/// is lost, because a TCP stall would last into the rounds without TSO.
void slow_large_packets(const NetNs& in, const std::string& device) {
    constexpr std::int32_t large = 2000;
    // Classifier result: 0 is no match, -1 is a match.
    const std::array program{
        instruction(BPF_LDX | BPF_MEM | BPF_W, 2, 1, offsetof(__sk_buff, len), 0),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
        instruction(BPF_JMP | BPF_JLE | BPF_K, 2, 0, 1, large),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1),
        instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
    };
    const auto loaded = load_program(BPF_PROG_TYPE_SCHED_CLS, program);
    if (!loaded || ::bpf_obj_pin(loaded.get(), "/sys/fs/bpf/large") < 0)
        throw SetupError(fmt::format("a slow card: {}", errno_text(errno)));
    must(in, "ip link add slow0 type ifb && ip link set slow0 up");
    must(in, "tc qdisc add dev slow0 root tbf rate 40mbit burst 256kb limit 4mb");
    must(in, fmt::format("tc qdisc add dev {0} clsact && tc filter add dev {0} ingress bpf pinned "
                         "/sys/fs/bpf/large action mirred egress redirect dev slow0",
                         device));
}

TEST(Doctor, reports_how_much_more_a_port_sends_without_tso) {
    const Cabling wires(1, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    shape(wires);
    slow_large_packets(wires.peer(), Cabling::far_end(1));
    const auto said = measured(wires, team);
    EXPECT_EQ(1, said.status);
    EXPECT_THAT(said.out, AllOf(HasSubstr("\"beyond_noise\": true"), HasSubstr("% more without TSO"),
                                HasSubstr(R"(\"tx-tcp-segmentation\": \"off\")")));
}

TEST(Doctor, refuses_to_measure_an_unknown_port) {
    const Cabling wires(1, FarSide::open);
    const TeamUnderTest team(loadbalance(1));
    const auto said = ask(team, "doctor --measure eth9");
    EXPECT_EQ(1, said.status);
    EXPECT_THAT(said.err, HasSubstr("eth9 is not a port of the team"));
}

} // namespace
} // namespace teamo::test
