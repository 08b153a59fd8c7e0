// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What would be and what is wrong: port remove --dry-run, doctor, and the trials of TSO that it makes.
//
// lab: Doctor.* OffloadTrial.* PortRemoveRehearsal.* by none: it is the same by every datapath
#include "base/result.h"
#include "netns/configs.h"
#include "netns/foreign_programs.h"
#include "netns/operators.h"
#include "support/socket_address.h"
#include "support/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint16_t service = 7000;

/// A TCP connection of this process from the team to the client.
class Connection {
public:
    explicit Connection(const Cabling& wires, const std::string& to = client_v4) {
        const SocketAddress target(to, service);
        const auto listener = socket_in(wires.client(), target.family(), SOCK_STREAM);
        near_ = socket_in(wires.host(), target.family(), SOCK_STREAM);
        if (::bind(listener.get(), target.get(), target.size) < 0 || ::listen(listener.get(), 1) < 0 ||
            ::setsockopt(near_.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer) < 0 ||
            ::connect(near_.get(), target.get(), target.size) < 0)
            throw SetupError(errno_text(errno));
        far_ = UniqueFd(::accept(listener.get(), nullptr, nullptr));
        sockaddr_storage own{};
        socklen_t length = sizeof own;
        ::getsockname(near_.get(), reinterpret_cast<sockaddr*>(&own), &length);
        // The port stands at the same place in both families.
        port_ = ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port);
    }
    std::uint16_t port() const { return port_; }
    int near() const { return near_.get(); }
    int far() const { return far_.get(); }

private:
    /// So little is under way that a queue is empty soon after a test has made it faster.
    static constexpr int send_buffer = 128 << 10;
    UniqueFd near_, far_;
    std::uint16_t port_ = 0;
};

/// Sends all the time by one connection of its own.
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

/// The last word but what stands in brackets of "bucket 137 leaves by eth2 (then …)".
std::string port_in(const std::string& answer) { return words_of(answer).at(4); }

std::string all_snapshots(const Cabling& wires) {
    std::string all = snapshot(wires.host(), "team0");
    for (unsigned number = 1; number <= wires.ports(); ++number)
        all += snapshot(wires.host(), Cabling::port(number));
    return all;
}

TEST(PortRemoveRehearsal, lists_a_connection_with_its_process_and_changes_nothing) {
    const Cabling wires(3, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(3));
    bring_up(wires, team);
    for (const auto& [own, client] : {std::pair(team_v4, client_v4), std::pair(team_v6, client_v6)}) {
        ASSERT_TRUE(reaches(wires.host(), client));
        const Connection connection(wires, client);
        const auto port = port_in(ask(team, fmt::format("balance hash src {} dst {} tcp sport {} dport {}",
                                                        own, client, connection.port(), service))
                                      .out);
        const bool ipv6 = std::string_view(client) == client_v6;
        const auto shown = [ipv6](const char* address, std::uint16_t number) {
            return ipv6 ? fmt::format("[{}]:{}", address, number) : fmt::format("{}:{}", address, number);
        };
        const auto line =
            fmt::format("    {} -> {}: bucket ", shown(own, connection.port()), shown(client, service));
        for (unsigned number = 1; number <= 3; ++number) {
            const auto before = all_snapshots(wires);
            const auto said = ask(team, "port remove " + Cabling::port(number), {"--dry-run"});
            EXPECT_EQ(0, said.status) << said.err;
            EXPECT_EQ("", difference(before, all_snapshots(wires)));
            EXPECT_THAT(said.out, HasSubstr("of 256 leave by it"));
            if (Cabling::port(number) == port)
                EXPECT_THAT(said.out, AllOf(HasSubstr("connections: 1 of 1 leave by it"), HasSubstr(line),
                                            HasSubstr(fmt::format(" ({})\n", ::getpid()))));
            else
                EXPECT_THAT(said.out, HasSubstr("connections: 0 of 1 leave by it"));
            EXPECT_THAT(said.out, HasSubstr("the other 2 ports carry 20000 Mbit/s"));
        }
    }
    EXPECT_EQ(0, ask(team, "port present eth1").status);
}

TEST(PortRemoveRehearsal, names_the_offloads_that_the_others_have_not) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, ports_object(3), R"("offload": {"repair": false}, )"));
    bring_up(wires, team);
    EXPECT_THAT(ask(team, "port remove -n eth1").out, HasSubstr("  offloads: the others have what it has\n"));
    must(wires.host(), "ethtool -K eth2 tx-tcp-segmentation off && ip link set eth3 gso_max_size 20000");
    EXPECT_THAT(ask(team, "port remove -n eth1").out,
                HasSubstr("  offloads: without tx-tcp-segmentation is eth2\n  capacity"));
    EXPECT_THAT(ask(team, "port remove -n eth2").out,
                HasSubstr("  offloads: the others have tx-tcp-segmentation, which it has not\n"));
    EXPECT_THAT(ask(team, "port remove -n eth3").out,
                HasSubstr("  offloads: packets may be 65536 bytes large instead of 20000\n"));
}

TEST(PortRemoveRehearsal, refuses_the_last_port_that_carries) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    wires.pull(2);
    ASSERT_TRUE(becomes("false", [&] { return team.item("ports.eth2.link_watches.up"); }));
    const auto last = ask(team, "port remove -n eth1");
    EXPECT_EQ(1, last.status);
    EXPECT_EQ("team0: port remove eth1: it is the last port that carries\n", last.err);
    const auto idle = ask(team, "port remove eth2 --dry-run --json");
    EXPECT_EQ(0, idle.status) << idle.err;
    EXPECT_THAT(idle.out, HasSubstr("\"suffices\": true"));
    EXPECT_EQ(1, ask(team, "port remove -n eth9").status);
    EXPECT_EQ(0, ask(team, "port present eth1").status);
}

/// "on" or "off".
std::string tso_of(const Cabling& wires, const std::string& port) {
    const auto said = must(wires.host(), fmt::format("ethtool -k {} | grep 'tx-tcp-segmentation:'", port));
    return words_of(said).at(1);
}

std::string tried(const std::string& port, const std::string& state) {
    return ControlSocket::to("team0")->ask("OffloadTry", {port, state}).value_or("nothing");
}

TEST(OffloadTrial, switches_and_puts_back) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_flow, ports_object(2), R"("offload": {"repair": false}, )"));
    bring_up(wires, team);
    for (const std::string before : {"on", "off"}) {
        must(wires.host(), "ethtool -K eth1 tx-tcp-segmentation " + before);
        const auto snapshot_before = must(wires.host(), "ethtool -k eth1");
        for (const auto* state : {"off", "on", "off", "on"}) {
            EXPECT_EQ("REPLY_SUCCESS\n", tried("eth1", state));
            EXPECT_EQ(state, tso_of(wires, "eth1"));
        }
        EXPECT_THAT(tried("eth2", "off"), HasSubstr("eth1 is being measured"));
        EXPECT_EQ("REPLY_SUCCESS\n", tried("eth1", "end"));
        EXPECT_EQ("", difference(snapshot_before, must(wires.host(), "ethtool -k eth1")));
    }
    EXPECT_THAT(tried("eth1", "perhaps"), StartsWith("REPLY_ERROR\nOffloadTryFail\n"));
    EXPECT_THAT(tried("eth9", "on"), StartsWith("REPLY_ERROR\nNoSuchDev\n"));
    EXPECT_EQ("REPLY_SUCCESS\n", tried("eth2", "end")) << "what does not run is ended already";
}

TEST(OffloadTrial, is_nothing_to_be_repaired) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto before = must(wires.host(), "ethtool -k eth1");
    for (const auto* state : {"off", "on", "off", "end"}) {
        EXPECT_EQ("REPLY_SUCCESS\n", tried("eth1", state));
        EXPECT_EQ("0", team.item("offload.ports.eth1.repaired"));
    }
    EXPECT_EQ("", difference(before, must(wires.host(), "ethtool -k eth1")));
    // What comes after is seen after what the trial left of news.
    must(wires.host(), "ethtool -K eth2 tso off");
    EXPECT_TRUE(becomes("1", [&] { return team.item("offload.ports.eth2.repaired"); }));
    EXPECT_EQ("0", team.item("offload.ports.eth1.repaired"));
    EXPECT_THAT(team.log(), testing::Not(HasSubstr("port eth1: tx-tcp")));
}

TEST(OffloadTrial, ends_with_the_membership_of_its_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    ASSERT_EQ(0, ask(team, "port remove eth1").status);
    EXPECT_EQ("on", tso_of(wires, "eth1"));
    EXPECT_EQ("REPLY_SUCCESS\n", tried("eth2", "off"));
}

TEST(OffloadTrial, ends_with_the_device_of_its_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    wires.host().ip("link del eth1");
    ASSERT_TRUE(becomes("", [&] { return team.item("ports.eth1.link.up"); }));
    EXPECT_EQ("REPLY_SUCCESS\n", tried("eth2", "off"));
}

TEST(OffloadTrial, ends_with_a_daemon_that_leaves_the_team_standing) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2), {"-N"});
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("on", tso_of(wires, "eth1"));
    EXPECT_NE(0, sh(wires.host(), "ls /run/teamd-offload/*.tso").status);
}

TEST(OffloadTrial, lasts_as_long_as_its_client_speaks) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto start = SteadyClock::now();
    while (since(start) < 7s) {
        ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
        ASSERT_TRUE(stays(
            "TSO is off", [&] { return tso_of(wires, "eth1") == "off"; }, 1s));
    }
}

TEST(OffloadTrial, ends_by_itself_after_its_client_is_killed) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    {
        auto doctor = Process::start({.argv = {teamoctl_program(), "team0", "doctor", "--measure", "eth1"}});
        ASSERT_TRUE(becomes("off", [&] { return tso_of(wires, "eth1"); }));
        doctor.signal(SIGKILL);
    }
    EXPECT_EQ("off", tso_of(wires, "eth1"));
    EXPECT_TRUE(becomes(
        std::string("on"), [&] { return tso_of(wires, "eth1"); }, 8s));
    EXPECT_THAT(team.log(), HasSubstr("nobody measures any more"));
}

TEST(OffloadTrial, is_ended_by_the_next_daemon_after_kill_9) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    team.kill();
    EXPECT_EQ("off", tso_of(wires, "eth1"));
    team.start();
    EXPECT_EQ("on", tso_of(wires, "eth1"));
    ASSERT_EQ("REPLY_SUCCESS\n", tried("eth1", "off"));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("on", tso_of(wires, "eth1"));
}

TEST(Doctor, finds_nothing_wrong_with_a_team_in_good_health) {
    const Cabling wires(2, FarSide::learning_switch);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    const auto said = ask(team, "doctor");
    EXPECT_EQ(0, said.status) << said.err;
    EXPECT_EQ("team0: nothing is wrong\n", said.out);
}

TEST(Doctor, names_a_pulled_cable_lost_tso_and_what_mends_them) {
    const Cabling wires(3, FarSide::lag_switch);
    const TeamUnderTest team(team_config(by_flow, ports_object(3), R"("offload": {"repair": false}, )"));
    bring_up(wires, team);
    ASSERT_EQ("team0: nothing is wrong\n", ask(team, "doctor").out);
    wires.pull(2);
    must(wires.host(), "ethtool -K eth3 tso off");
    ASSERT_TRUE(becomes("false", [&] { return team.item("ports.eth2.link_watches.up"); }));
    const auto said = ask(team, "doctor");
    EXPECT_EQ(1, said.status);
    EXPECT_EQ("", said.err);
    EXPECT_EQ("warning: eth2: has no link: cable, or the switch's port\n"
              "    ethtool eth2\n"
              "warning: eth3: TSO is off: what leaves by it is cut by the CPU\n"
              "    ethtool -K eth3 tso on\n",
              said.out);
    wires.pull(1);
    wires.pull(3);
    ASSERT_TRUE(becomes("false", [&] { return team.item("ports.eth3.link_watches.up"); }));
    const auto worse = ask(team, "doctor", {"--json"});
    EXPECT_EQ(1, worse.status);
    EXPECT_THAT(worse.out, HasSubstr("no port carries"));
}

/// One port behind a shaper that it fills, measured by `doctor`; what that said.
Output measured(const Cabling& wires, const TeamUnderTest& team) {
    const Flood flood(wires);
    const auto said = ask(team, "doctor --json --measure eth1");
    EXPECT_EQ("on", tso_of(wires, "eth1"));
    return said;
}

/// A GSO packet fits into the bucket: a line's rate, not a segmenter.
void shape(const Cabling& wires) {
    must(wires.host(), "tc qdisc add dev eth1 root tbf rate 100mbit burst 256kb latency 50ms");
}

/// Broadcasts of the client, fifty in a second and no two the same.
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

TEST(Doctor, says_that_a_switch_does_not_aggregate_the_ports) {
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
    EXPECT_THAT(said, HasSubstr("in a second came by more than one port"));
    EXPECT_THAT(said, HasSubstr("(eth1 and eth2)"));
}

TEST(Doctor, says_nothing_of_broadcasts_of_a_switch_that_does) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto broadcasts = broadcasts_of(wires);
    ASSERT_TRUE(eventually("they come", [&] {
        return counters(wires.host(), "eth1").rx_packets + counters(wires.host(), "eth2").rx_packets > 60;
    }));
    EXPECT_THAT(team.teamoctl({"doctor"}).out, Not(HasSubstr("aggregate")));
}

TEST(Doctor, does_not_blame_tso_where_it_makes_no_difference) {
    const Cabling wires(1, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.host(), client_v4));
    shape(wires);
    const auto said = measured(wires, team);
    EXPECT_THAT(said.out, AllOf(HasSubstr("\"beyond_noise\": false"), HasSubstr("\"cpu_us_per_kib\": "),
                                Not(HasSubstr("% more without TSO"))));
}

/// A card that does badly with TSO: what arrives there as one large packet waits in a queue of 40 Mbit/s,
/// what comes cut does not. Nothing is lost: a stall of TCP would last into the rounds without TSO.
void slow_large_packets(const NetNs& in, const std::string& device) {
    constexpr std::int32_t large = 2000;
    const auto instruction = [](int code, int dst, int src, int offset, std::int32_t number) {
        return bpf_insn{.code = static_cast<__u8>(code),
                        .dst_reg = static_cast<__u8>(dst & 15),
                        .src_reg = static_cast<__u8>(src & 15),
                        .off = static_cast<__s16>(offset),
                        .imm = number};
    };
    // A classifier: 0 is no match, -1 is one.
    const std::array program{
        instruction(BPF_LDX | BPF_MEM | BPF_W, 2, 1, offsetof(__sk_buff, len), 0),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
        instruction(BPF_JMP | BPF_JLE | BPF_K, 2, 0, 1, large),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1),
        instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
    };
    const UniqueFd loaded(
        ::bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "large", "GPL", program.data(), program.size(), nullptr));
    if (!loaded || ::bpf_obj_pin(loaded.get(), "/sys/fs/bpf/large") < 0)
        throw SetupError(fmt::format("a slow card: {}", errno_text(errno)));
    must(in, "ip link add slow0 type ifb && ip link set slow0 up");
    must(in, "tc qdisc add dev slow0 root tbf rate 40mbit burst 256kb limit 4mb");
    must(in, fmt::format("tc qdisc add dev {0} clsact && tc filter add dev {0} ingress bpf pinned "
                         "/sys/fs/bpf/large action mirred egress redirect dev slow0",
                         device));
}

TEST(Doctor, says_how_much_more_a_port_sends_without_tso) {
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

TEST(Doctor, measures_no_port_that_is_none) {
    const Cabling wires(1, FarSide::open);
    const TeamUnderTest team(loadbalance(1));
    const auto said = ask(team, "doctor --measure eth9");
    EXPECT_EQ(1, said.status);
    EXPECT_THAT(said.err, HasSubstr("eth9 is no port of the team"));
}

} // namespace
} // namespace teamo::test
