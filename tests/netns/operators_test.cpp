// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an administrator asks of a team, and tells it, beyond teamdctl's commands.
#include "netns/configs.h"
#include "netns/foreign_programs.h"
#include "support/frames.h"
#include "support/packet_socket.h"
#include "support/socket_address.h"
#include "support/traffic.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

Output ask(const TeamUnderTest& team, const std::string& line, const Words& options = {}) {
    return team.teamoctl(words_of(line), options);
}

std::string hashing(const std::string& fields) {
    return fmt::format(R"({{"name": "loadbalance", "tx_hash": [{}]}})", fields);
}

/// The client's neighbour entry is made by hand: nobody answers at open far ends.
void know_neighbours(const Cabling& wires) {
    for (const auto* address : {client_v4, client_v6})
        wires.host().ip(fmt::format("neigh replace {} dev team0 lladdr 02:00:00:00:00:02", address));
}

constexpr std::uint16_t service = 7000;

/// One datagram by the kernel's own stack, and the port that it is seen to leave by.
std::string port_taken(const Cabling& wires, const std::string& to, std::uint16_t source_port) {
    const bool ipv6 = to.find(':') != std::string::npos;
    std::vector<PacketSocket> far;
    for (unsigned number = 1; number <= wires.ports(); ++number)
        far.emplace_back(wires.peer(), Cabling::far_end(number), ipv6 ? ether_ipv6 : ether_ipv4);
    const SocketAddress from(ipv6 ? team_v6 : team_v4, source_port), target(to, service);
    const auto socket = socket_in(wires.host(), target.family(), SOCK_DGRAM);
    const std::string payload = fmt::format("flow {}", source_port);
    if (::bind(socket.get(), from.get(), from.size) < 0 ||
        ::sendto(socket.get(), payload.data(), payload.size(), 0, target.get(), target.size) < 0)
        throw SetupError(errno_text(errno));
    std::string port;
    const auto seen = [&] {
        for (unsigned number = 1; number <= wires.ports(); ++number)
            while (const auto frame = far[number - 1].receive(1ms))
                if (from_offset(frame->frame, 14 + (ipv6 ? 40 : 20) + 8).starts_with(payload))
                    port = Cabling::port(number);
        return !port.empty();
    };
    return eventually("", seen, 2s) ? port : "none";
}

struct HashCase {
    const char *name, *fields;
};
std::ostream& operator<<(std::ostream& out, const HashCase& hash) { return out << hash.name; }

class BalanceHash : public testing::TestWithParam<HashCase> {};
INSTANTIATE_TEST_SUITE_P(By, BalanceHash,
                         testing::Values(HashCase{"macs", R"("eth")"}, HashCase{"ip", R"("ip")"},
                                         HashCase{"default", R"("eth", "ipv4", "ipv6")"},
                                         HashCase{"flow", R"("eth", "vlan", "ip", "l4")"},
                                         HashCase{"ports", R"("udp")"}),
                         [](const auto& each) { return each.param.name; });

TEST_P(BalanceHash, says_where_packets_go) {
    const Cabling wires(4, FarSide::open);
    const TeamUnderTest team(team_config(hashing(GetParam().fields), ports_object(4)));
    bring_up(wires, team);
    know_neighbours(wires);
    for (const auto& [from, to] : {std::pair(team_v4, client_v4), std::pair(team_v6, client_v6)})
        for (std::uint16_t number = 0; number < 6; ++number) {
            const auto source_port = static_cast<std::uint16_t>(20000 + 977 * number);
            const auto answer = ask(team, fmt::format("balance hash src {} dst {} udp sport {} dport {}",
                                                      from, to, source_port, service));
            ASSERT_EQ(0, answer.status) << answer.err;
            EXPECT_THAT(answer.out,
                        HasSubstr(fmt::format(" leaves by {} (then eth", port_taken(wires, to, source_port))))
                << to << " from " << source_port;
        }
}

TEST(BalanceHash, knows_the_gateway_that_has_the_neighbours_address) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_mac, ports_object(2)));
    bring_up(wires, team);
    know_neighbours(wires);
    wires.host().ip(fmt::format("route add default via {}", client_v4));
    const auto own = look(wires.host(), "team0").address;
    const auto said = ask(team, fmt::format("balance hash smac {} dmac 02:00:00:00:00:02", own));
    EXPECT_EQ(0, said.status) << said.err;
    EXPECT_EQ(said.out, ask(team, "balance hash src 10.0.0.1 dst 192.0.2.1 tcp").out);
}

TEST(BalanceHash, names_what_it_is_not_told_and_cannot_know) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto unknown = ask(team, "balance hash src 10.0.0.1 dst 10.0.0.77 tcp sport 1 dport 2");
    EXPECT_EQ(1, unknown.status);
    EXPECT_THAT(unknown.err, AllOf(HasSubstr("lacks dmac"), HasSubstr("neighbour for 10.0.0.77")));
    const auto elsewhere = ask(team, "balance hash src 10.0.0.1 dst 127.0.0.1 tcp sport 1 dport 2");
    EXPECT_EQ(1, elsewhere.status);
    EXPECT_THAT(elsewhere.err, AllOf(HasSubstr("lacks dmac"), HasSubstr("by lo, not by the team")));
    const auto half = ask(team, "balance hash dst 10.0.0.77 tcp dmac 02:00:00:00:00:02");
    EXPECT_EQ(1, half.status);
    EXPECT_THAT(half.err, HasSubstr("lacks src, sport, dport: the team hashes eth, ipv4, ipv6, tcp, udp"));
    for (const auto* line : {"balance hash", "balance hash src", "balance hash sport 1", "balance hash now"})
        EXPECT_EQ(2, ask(team, line).status) << line;
}

TEST(BalanceHash, says_of_runners_without_a_hash_where_packets_go) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    const auto answer = ask(team, "balance hash dst 10.0.0.2");
    EXPECT_EQ(1, answer.status);
    EXPECT_THAT(answer.err, HasSubstr("activebackup does not hash; packets leave by eth1"));
}

/// The bucket that "bucket 137 leaves by …" names.
std::string bucket_in(const std::string& answer) { return words_of(answer).at(1); }

TEST(BalanceMove, sends_a_flow_by_the_port_it_names) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(loadbalance(3));
    bring_up(wires, team);
    know_neighbours(wires);
    const std::string flow =
        fmt::format("balance hash src {} dst {} udp sport 20000 dport {}", team_v4, client_v4, service);
    const auto bucket = bucket_in(ask(team, flow).out);
    for (const auto* port : {"eth3", "eth1", "eth2"}) {
        const auto moved = ask(team, fmt::format("balance move {} {} now", bucket, port));
        EXPECT_EQ(0, moved.status) << moved.err;
        EXPECT_EQ("", moved.out + moved.err);
        EXPECT_THAT(ask(team, flow).out, StartsWith(fmt::format("bucket {} leaves by {} ", bucket, port)));
        EXPECT_EQ(port, port_taken(wires, client_v4, 20000));
    }
    EXPECT_THAT(ask(team, "balance").out, AllOf(HasSubstr("last moves:\n"), HasSubstr("by hand")));
}

TEST(BalanceMove, refuses_what_is_no_bucket_and_no_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    for (const auto* line : {"balance move 256 eth1", "balance move -1 eth1", "balance move x eth1",
                             "balance move 7", "balance move 7 eth1 soon", "balance move 7 eth1 now now"})
        EXPECT_EQ(2, ask(team, line).status) << line;
    const auto nobody = ask(team, "balance move 7 eth9");
    EXPECT_EQ(1, nobody.status);
    EXPECT_THAT(nobody.err, StartsWith("team0: balance move"));
}

TEST(BalanceFreeze, is_told_and_ended) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto freeze = ask(team, "balance freeze");
    EXPECT_EQ(0, freeze.status) << freeze.err;
    EXPECT_EQ("", freeze.out + freeze.err);
    EXPECT_EQ("true", team.item("balance.frozen"));
    EXPECT_THAT(ask(team, "balance show").out, HasSubstr("frozen"));
    EXPECT_EQ(0, ask(team, "balance thaw").status);
    EXPECT_EQ("false", team.item("balance.frozen"));
    EXPECT_THAT(ask(team, "balance show").out, Not(HasSubstr("frozen")));
}

TEST(Options, that_a_command_does_not_have_are_bad_usage) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(2));
    for (const auto& [line, option] :
         {std::pair("state", "--json"), std::pair("port remove eth1", "--json"), std::pair("stats", "-n"),
          std::pair("port add eth1", "--dry-run"), std::pair("balance", "--measure=eth1"),
          std::pair("balance freeze", "--json")})
        EXPECT_EQ(2, ask(team, line, {option}).status) << line << " " << option;
}

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
    const TeamUnderTest team(loadbalance(3));
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
    const TeamUnderTest team(loadbalance(2));
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
    const TeamUnderTest team(loadbalance(3));
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
