// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel's bonding driver as the team's device: what ip(8) shows of it, bonds of other programs, and the
// card that the kernel finds behind a socket for device TLS. The tests of tests/netns by bond check the rest.
//
// lab: Bond.* BondImport.* *DeviceTls.* DeviceTlsRefusal.* in -k newest -p 2, 20 s
#include "kernel/netlink/bond_options.h"
#include "kernel/netlink/netlink_socket.h"
#include "lab/bonds.h"
#include "lab/far_switch.h"
#include "lab/guest.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/net/socket_address.h"
#include "support/traffic/traffic.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/tls.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

testing::AssertionResult transmits(const TeamUnderTest& team, const std::string& port) {
    return becomes(
        std::string("true"), [&] { return team.item(fmt::format("ports.{}.datapath.transmits", port)); },
        20s);
}

std::string pair_with(const char* runner) {
    return fmt::format(R"({{"device": "team0", "runner": {{"name": "{}"}},
                           "ports": {{"eth0": {{}}, "eth1": {{}}}}}})",
                       runner);
}

TEST(Bond, is_not_what_auto_uses_where_its_programs_are_refused) {
    const HiddenTypes hidden;
    TeamUnderTest team(R"({"device": "team0", "runner": {"name": "loadbalance"}})", {"--datapath", "auto"});
    EXPECT_EQ("team", team.item("datapath.name"));
    EXPECT_THAT(team.log(),
                HasSubstr("the team cannot be a bond, and uses the datapath team: the kernel does "
                          "not tell the types of bonding"));
    EXPECT_EQ(0, team.stop());
}

TEST(Bond, shows_as_bonding_in_the_mode_of_its_runner) {
    const FarSwitch far(2);
    const auto before = as_it_is("eth1");
    TeamUnderTest team(balanced_pair, {"--datapath", "bond"});
    ASSERT_TRUE(transmits(team, "eth0"));
    ASSERT_TRUE(transmits(team, "eth1"));
    EXPECT_EQ("bond", team.item("datapath.name"));
    EXPECT_EQ("bond", team.item("datapath.device_kind"));
    EXPECT_EQ("false", team.item("datapath.kernel_hashes"));
    EXPECT_THAT(in_guest("ip -d link show team0"),
                AllOf(HasSubstr("bond mode balance-xor"), HasSubstr("xmit_hash_policy encap3+4"),
                      HasSubstr("miimon 20")));
    EXPECT_THAT(in_guest("ip -d link show eth0"), HasSubstr("master team0"));
    EXPECT_THAT(in_guest("ip -d link show eth1"), HasSubstr("master team0"));
    in_guest("ip addr add 10.9.0.1/24 dev team0; ip link set team0 up");
    EXPECT_TRUE(reaches(NetNs::current(), "10.9.0.2", 15s));
    in_guest("ip link set eth1 nomaster");
    EXPECT_TRUE(becomes(std::string(""), [&] { return team.item("ports.eth1.link.up"); }));
    EXPECT_EQ("", difference(before, snapshot(NetNs::current(), "eth1")));
    EXPECT_EQ(0, team.stop());
    EXPECT_FALSE(exists(NetNs::current(), "team0"));
}

/// For options that ip(8) of Debian 12 and 13 does not know: `put` adds one to those of the bond, or of its
/// slave.
Result<> set_option(const std::string& device, int kind, int options, const auto& put) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(look(NetNs::current(), device).index);
    auto message = make_message(RTM_NEWLINK, NLM_F_ACK, header);
    auto* info = nla_nest_start(message.get(), IFLA_LINKINFO);
    nla_put_string(message.get(), kind, "bond");
    auto* data = nla_nest_start(message.get(), options);
    put(message.get());
    nla_nest_end(message.get(), data);
    nla_nest_end(message.get(), info);
    return socket.request(std::move(message));
}

TEST(BondImport, takes_over_newer_options_of_lacp) {
    const auto* kernel = std::getenv("TEAMO_LAB_KERNEL");
    if (kernel == nullptr || std::string_view(kernel) != "newest")
        GTEST_SKIP() << "bonding has actor_port_prio since Linux 6.18";
    in_guest("ip link add bond0 type bond mode 802.3ad; ip link set eth0 down master bond0; "
             "ip link set eth1 down master bond0");
    const auto import = [] { return in_guest("teamoctl import bond bond0"); };
    EXPECT_THAT(import(), HasSubstr("\"fallback\": true"));
    const auto set = set_option("eth0", IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA, [](nl_msg* message) {
        nla_put_u16(message, 10 /* IFLA_BOND_SLAVE_ACTOR_PORT_PRIO, Linux 6.18 */, 7);
    });
    ASSERT_TRUE(set) << set.error().text;
    const auto strict = set_option("bond0", IFLA_INFO_KIND, IFLA_INFO_DATA, [](nl_msg* message) {
        nla_put_u8(message, 34 /* IFLA_BOND_LACP_STRICT, Linux 7.x */, 1);
    });
    ASSERT_TRUE(strict) << strict.error().text;
    const auto imported = import();
    in_guest("ip link del bond0");
    EXPECT_THAT(imported, Not(HasSubstr("fallback")));
    EXPECT_THAT(imported, testing::ContainsRegex("\"eth0\": \\{[^}]*\"lacp_prio\": 7"));
    EXPECT_THAT(imported, Not(HasSubstr("\"lacp_prio\": 255")));
}

TEST(Bond, gives_its_slaves_their_lacp_priorities) {
    const auto priority = [] {
        const auto options = read_bond_options(IfIndex{look(NetNs::current(), "eth0").index});
        return options && options->contains("actor_port_prio") ? options->at("actor_port_prio") : "";
    };
    const auto config = [](int number) {
        return fmt::format(R"({{"device": "team0", "runner": {{"name": "lacp"}},
                                "ports": {{"eth0": {{"lacp_prio": {}}}, "eth1": {{}}}}}})",
                           number);
    };
    TeamUnderTest team(config(7), {"--datapath", "auto"});
    EXPECT_EQ("bond", team.item("datapath.name"));
    EXPECT_TRUE(becomes(std::string("7"), priority));
    std::ofstream(team.item("setup.config_file")) << config(9);
    EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    EXPECT_TRUE(becomes(std::string("9"), priority));
    EXPECT_EQ(0, team.stop());
}

/// Without it bonding would not use the hash that names the port.
TEST(Bond, sets_a_policy_that_was_changed_again_each_time) {
    TeamUnderTest team(balanced_pair, {"--datapath", "bond"});
    ASSERT_TRUE(transmits(team, "eth0"));
    in_guest("ip link set team0 up"); // while it is down there is no event
    for (int times = 0; times < 3; ++times) {
        in_guest("ip link set team0 type bond xmit_hash_policy layer2");
        EXPECT_TRUE(becomes(
            true, [] { return in_guest("ip -d link show team0").find("encap3+4") != std::string::npos; },
            20s))
            << times;
    }
    EXPECT_EQ(0, team.stop());
}

/// The runner decides, a slave that was made active by hand stays, and bonding has the same one.
TEST(Bond, has_the_active_slave_of_the_runner) {
    TeamUnderTest team(
        R"({"device": "team0", "runner": {"name": "activebackup"}, "ports": {"eth0": {}, "eth1": {"prio": 9}}})",
        {"--datapath", "bond"});
    const auto shown = [] { return in_guest("cat /sys/class/net/team0/bonding/active_slave"); };
    const auto active = [&] { return team.item("runner.active_port"); };
    in_guest("ip link set team0 up");
    EXPECT_TRUE(becomes(std::string("eth1"), active, 20s));
    EXPECT_TRUE(becomes(std::string("eth1\n"), shown, 20s));
    EXPECT_THAT(in_guest("ip -d link show team0"), HasSubstr("bond mode active-backup"));
    in_guest("ip link set team0 type bond active_slave eth0");
    EXPECT_TRUE(becomes(std::string("eth0"), active));
    in_guest("sleep 0.5");
    EXPECT_EQ("eth0\n", shown());
    in_guest("teamoctl team0 state item set runner.active_port eth1");
    EXPECT_EQ("eth1\n", shown());
    EXPECT_EQ("eth1", active());
    EXPECT_EQ(0, team.stop());
}

/// The kernel's machine goes on without a daemon, and what it says of the partner is in teamd's state.
TEST(Bond, has_the_lacp_of_the_kernel) {
    const auto far = NetNs::create();
    in_guest("ip link add p0 type veth peer name f0; ip link add p1 type veth peer name f1");
    NetNs::current().ip("link set f0 netns " + far.path() + "\nlink set f1 netns " + far.path());
    far.ip("link add bond0 address 02:00:00:00:0f:0f type bond mode 802.3ad lacp_rate fast miimon 20\n"
           "link set f0 master bond0\nlink set f1 master bond0\naddr add 10.8.0.2/24 dev bond0\n"
           "link set bond0 up");
    const auto config = [](int min_ports) {
        return fmt::format(
            R"({{"device": "team0", "runner": {{"name": "lacp", "fast_rate": true, "sys_prio": 100,
                               "system": "02:00:00:00:0a:0a", "min_ports": {}}},
                               "ports": {{"p0": {{}}, "p1": {{}}}}}})",
            min_ports);
    };
    TeamUnderTest team(config(1), {"--datapath", "bond"});
    in_guest("ip addr add 10.8.0.1/24 dev team0; ip link set team0 up");
    const auto item = [&](const char* port, const char* name) {
        return team.item(fmt::format("ports.{}.runner.{}", port, name));
    };
    for (const auto* port : {"p0", "p1"}) {
        EXPECT_TRUE(
            becomes(std::string("distributing"), [&] { return item(port, "detail.mux_state"); }, 20s));
        EXPECT_EQ("current", item(port, "state"));
        EXPECT_TRUE(transmits(team, port));
        EXPECT_EQ("true", item(port, "aggregator.selected"));
        EXPECT_EQ("02:00:00:00:0f:0f", item(port, "partner_lacpdu_info.system"));
        EXPECT_EQ("02:00:00:00:0a:0a", item(port, "actor_lacpdu_info.system"));
        EXPECT_EQ("100", item(port, "actor_lacpdu_info.system_priority"));
        EXPECT_NE("0", item(port, "detail.lacpdus_received"));
    }
    EXPECT_THAT(in_guest("ip -d link show team0"),
                AllOf(HasSubstr("mode 802.3ad"), HasSubstr("lacp_rate fast"),
                      HasSubstr("xmit_hash_policy encap3+4")));
    const auto options = read_bond_options(IfIndex{look(NetNs::current(), "team0").index});
    const auto coupled = options->find("coupled_control"); // since Linux 6.9
    EXPECT_TRUE(coupled == options->end() || coupled->second == "0");
    EXPECT_THAT(in_guest("teamdctl team0 state"),
                AllOf(HasSubstr("runner: lacp"), HasSubstr("state: current")));
    EXPECT_TRUE(reaches(NetNs::current(), "10.8.0.2", 15s));
    const auto distributing = [&] {
        return sh(far, "ip -d link show | grep -c 'ad_partner_oper_port_state_str.*distributing'").out;
    };
    EXPECT_TRUE(becomes(std::string("2\n"), distributing)); // its LACPDU comes last
    team.kill();
    in_guest("sleep 5"); // more than three periods
    EXPECT_EQ("2\n", distributing()) << "without a daemon";
    team.start({"--datapath", "bond"});
    EXPECT_TRUE(transmits(team, "p1"));
    far.ip("link set f1 nomaster\nlink set f1 up");
    EXPECT_TRUE(becomes(std::string("false"), [&] { return team.item("ports.p1.datapath.transmits"); }, 20s));
    EXPECT_TRUE(eventually("a link, and no partner there", [&] { // nomaster takes the link for a moment
        return item("p1", "detail.not_used_because").find("partner") != std::string::npos;
    }));
    EXPECT_TRUE(reaches(NetNs::current(), "10.8.0.2", 15s));
    EXPECT_THAT(in_guest("teamoctl team0 doctor || true"), HasSubstr("p1"));
    const auto min_links = [] { return in_guest("ip -d link show team0 | grep -o 'min_links [0-9]*'"); };
    EXPECT_EQ("min_links 1\n", min_links());
    std::ofstream(team.item("setup.config_file")) << config(2);
    EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    EXPECT_EQ("min_links 2\n", min_links());
    const auto carrier = [] { return in_guest("cat /sys/class/net/team0/carrier"); };
    EXPECT_TRUE(becomes(std::string("0\n"), carrier)) << "one port carries";
    team.kill();
    team.start({"--datapath", "bond", "-c", config(1)});
    EXPECT_EQ("min_links 1\n", min_links());
    EXPECT_EQ(0, team.stop());
    in_guest("ip link del p0; ip link del p1");
}

/// The program names the slave of each packet, so a reload can change between these runners.
TEST(Bond, sends_by_packet_and_changes_the_runner) {
    TeamUnderTest team(pair_with("roundrobin"), {"--datapath", "bond"});
    ASSERT_TRUE(transmits(team, "eth0"));
    ASSERT_TRUE(transmits(team, "eth1"));
    EXPECT_THAT(in_guest("ip -d link show team0"), HasSubstr("bond mode balance-xor"));
    in_guest("ip addr add 10.9.0.1/24 dev team0; ip link set team0 up; "
             "ip neigh replace 10.9.0.9 lladdr 02:00:00:00:09:09 dev team0");
    // How many of 100 packets of one flow the ports sent.
    const auto sent = [] {
        const auto count = [](const char* port) {
            return std::stoi(in_guest(fmt::format("cat /sys/class/net/{}/statistics/tx_packets", port)));
        };
        const std::pair before(count("eth0"), count("eth1"));
        in_guest("ping -q -c 100 -i 0.002 -W 1 10.9.0.9 >/dev/null || true");
        return std::pair(count("eth0") - before.first, count("eth1") - before.second);
    };
    const auto by_turns = sent();
    EXPECT_GE(by_turns.first, 45);
    EXPECT_GE(by_turns.second, 45);
    const auto reload = [&team](const std::string& config) {
        std::ofstream(team.item("setup.config_file")) << config;
        EXPECT_EQ(0, team.teamoctl({"config", "reload"}).status);
    };
    reload(pair_with("broadcast"));
    const auto by_all = sent();
    EXPECT_GE(by_all.first, 100);
    EXPECT_GE(by_all.second, 100);
    reload(balanced_pair);
    const auto by_hash = sent();
    EXPECT_GE(std::max(by_hash.first, by_hash.second), 100);
    EXPECT_LE(std::min(by_hash.first, by_hash.second), 20);
    EXPECT_EQ(0, team.stop());
}

TEST(Bond, keeps_its_address_without_ports) {
    in_guest("ip link add p0 type veth peer name f0; ip link set f0 up");
    TeamUnderTest team(
        R"({"device": "team0", "hwaddr": "02:00:00:00:0a:0a", "runner": {"name": "loadbalance"},
                           "ports": {"p0": {}}})",
        {"--datapath", "bond"});
    ASSERT_TRUE(transmits(team, "p0"));
    in_guest("ip link del p0");
    EXPECT_TRUE(becomes(std::string(""), [&] { return team.item("ports.p0.link.up"); }));
    EXPECT_TRUE(
        becomes(std::string("02:00:00:00:0a:0a"), [] { return look(NetNs::current(), "team0").address; }));
    in_guest("ip link add p0 type veth peer name f0; ip link set f0 up");
    EXPECT_TRUE(transmits(team, "p0"));
    EXPECT_EQ("02:00:00:00:0a:0a", look(NetNs::current(), "team0").address);
    EXPECT_EQ("02:00:00:00:0a:0a", look(NetNs::current(), "p0").address);
    EXPECT_EQ(0, team.stop());
    in_guest("ip link del p0");
}

TEST(Bond, leaves_the_bond_of_another_program_alone) {
    in_guest("ip link add team0 type bond mode active-backup");
    const auto before = in_guest("ip -d link show team0");
    const auto refused = daemon_on(balanced_pair, {"--datapath", "bond"});
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err,
                HasSubstr("device team0 exists and is not a team of teamd-offload; start with -o"));
    const auto refused_mode = daemon_on(balanced_pair, {"--datapath", "bond", "-o"});
    EXPECT_EQ(1, refused_mode.status);
    EXPECT_THAT(refused_mode.err, HasSubstr("its mode is not balance-xor"));
    EXPECT_EQ(before, in_guest("ip -d link show team0"));
    in_guest("ip link del team0");
}

TEST(Bond, takes_over_a_bond_with_option_o) {
    in_guest("ip link add team0 type bond mode balance-xor; ip link set eth0 down; ip link set eth1 down; "
             "ip link set eth0 master team0; ip link set eth1 master team0");
    TeamUnderTest team(R"({"device": "team0", "runner": {"name": "loadbalance"}})",
                       {"--datapath", "bond", "-o"});
    EXPECT_TRUE(transmits(team, "eth0"));
    EXPECT_TRUE(transmits(team, "eth1"));
    EXPECT_THAT(look(NetNs::current(), "team0").altnames, testing::Contains("teamo-team-team0"));
    EXPECT_THAT(in_guest("ip -d link show team0"), AllOf(HasSubstr("miimon 20"), HasSubstr("encap3+4")));
    EXPECT_EQ(0, team.stop());
}

// ---- device TLS -----------------------------------------------------------------------------

/// Notes which device the kernel finds behind a socket. A kernel probe, removed at the end.
class LowestDevice {
public:
    LowestDevice() {
        in_guest("mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; "
                 "cd /sys/kernel/tracing && echo > trace && "
                 "echo 'r:teamo_lowest netdev_sk_get_lowest_dev found=$retval->ifindex' >> kprobe_events && "
                 "echo 1 > events/kprobes/teamo_lowest/enable && echo 1 > tracing_on");
    }
    LowestDevice(const LowestDevice&) = delete;
    LowestDevice& operator=(const LowestDevice&) = delete;
    ~LowestDevice() {
        static_cast<void>(sh(NetNs::current(), "cd /sys/kernel/tracing && "
                                               "echo 0 > events/kprobes/teamo_lowest/enable; "
                                               "echo '-:teamo_lowest' >> kprobe_events"));
    }
    /// The names of the devices found.
    std::vector<std::string> found() const {
        std::vector<std::string> names;
        const auto text = in_guest("sed -n 's/.*found=//p' /sys/kernel/tracing/trace");
        for (std::size_t at = 0; at < text.size();) {
            const auto end = text.find('\n', at);
            names.push_back(
                in_guest(fmt::format("ip -o link | sed -n 's/^{}: \\([^:@]*\\).*/\\1/p' | tr -d '\\n'",
                                     text.substr(at, end - at))));
            at = end == std::string::npos ? text.size() : end + 1;
        }
        return names;
    }
};

/// Connects over the team and asks for TLS in the kernel, which first looks for a card that does it.
void start_tls(const NetNs& far, const char* address) {
    const SocketAddress to(address, 7002);
    const auto listener = socket_in(far, AF_INET, SOCK_STREAM);
    const auto sender = socket_in(NetNs::current(), AF_INET, SOCK_STREAM);
    if (::bind(listener.get(), to.get(), to.size) < 0 || ::listen(listener.get(), 1) < 0 ||
        ::connect(sender.get(), to.get(), to.size) < 0)
        throw SetupError("no connection to the far end");
    tls12_crypto_info_aes_gcm_128 key{};
    key.info.version = TLS_1_2_VERSION;
    key.info.cipher_type = TLS_CIPHER_AES_GCM_128;
    constexpr int sol_tls = 282; // SOL_TLS
    if (::setsockopt(sender.get(), SOL_TCP, TCP_ULP, "tls", sizeof "tls") < 0 ||
        ::setsockopt(sender.get(), sol_tls, TLS_TX, &key, sizeof key) < 0)
        throw SetupError("the kernel refuses TLS");
}

struct Datapath {
    const char* name;
    const char* option;
    const char* offload; ///< of the configuration
    bool finds_port;
};

class DeviceTls : public testing::TestWithParam<Datapath> {};

TEST_P(DeviceTls, kernel_finds_the_port_only_if_bonding_hashes) {
    if (!is_at_least(6, 3)) GTEST_SKIP() << "this kernel's kprobes do not know the members of a result";
    in_guest("modprobe tls");
    const auto far = NetNs::create();
    in_guest("ip link add p0 type veth peer name f0; ip link add p1 type veth peer name f1");
    NetNs::current().ip("link set f0 netns " + far.path() + "\nlink set f1 netns " + far.path());
    far.ip("link add br0 type bridge mcast_snooping 0\nlink set f0 master br0 up\nlink set f1 master br0 up\n"
           "addr add 10.8.0.2/24 dev br0\nlink set br0 up");
    TeamUnderTest team(fmt::format(R"({{"device": "team0", "runner": {{"name": "loadbalance"}}, {}
                                       "ports": {{"p0": {{}}, "p1": {{}}}}}})",
                                   GetParam().offload),
                       {"--datapath", GetParam().option});
    ASSERT_TRUE(transmits(team, "p0"));
    ASSERT_TRUE(transmits(team, "p1"));
    in_guest("ip addr add 10.8.0.1/24 dev team0; ip link set team0 up");
    ASSERT_TRUE(reaches(NetNs::current(), "10.8.0.2", 15s));
    const LowestDevice lowest;
    start_tls(far, "10.8.0.2");
    const auto found = lowest.found();
    fmt::print("{}: the kernel finds {}\n", GetParam().name, fmt::join(found, ", "));
    ASSERT_FALSE(found.empty());
    const bool is_port = found.front() == "p0" || found.front() == "p1";
    EXPECT_EQ(GetParam().finds_port, is_port);
    EXPECT_EQ(GetParam().finds_port ? "true" : "false", team.item("datapath.kernel_hashes"));
    EXPECT_THAT(in_guest("ip -d link show team0"),
                GetParam().finds_port ? HasSubstr("xmit_hash_policy layer3+4")
                                      : testing::Matcher<std::string>(Not(HasSubstr("layer3+4"))));
    const auto warned = HasSubstr("bonding chooses the ports by its layer3+4 hash");
    EXPECT_THAT(team.log(), GetParam().finds_port ? testing::Matcher<std::string>(warned) : Not(warned));
    EXPECT_EQ(0, team.stop());
    in_guest("ip link del p0; ip link del p1");
}

INSTANTIATE_TEST_SUITE_P(
    By, DeviceTls,
    testing::Values(Datapath{"team", "team", "", false}, Datapath{"bpf", "bpf", "", false},
                    Datapath{"bond", "bond", "", false},
                    Datapath{"required", "auto", R"("offload": {"tls-hw-tx-offload": "require"},)", true}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(DeviceTlsRefusal, names_what_excludes_it) {
    const auto with = [](const char* runner) {
        return fmt::format(R"({{"device": "team0", "runner": {{"name": "{}"}},
                               "offload": {{"tls-hw-tx-offload": "require"}}}})",
                           runner);
    };
    const auto other_datapath = daemon_on(with("loadbalance"), {"--datapath", "bpf"});
    EXPECT_EQ(1, other_datapath.status);
    EXPECT_THAT(other_datapath.err, HasSubstr("device TLS works only with the datapath bond"));
    const auto other_runner = daemon_on(with("activebackup"), {"--datapath", "auto"});
    EXPECT_EQ(1, other_runner.status);
    EXPECT_THAT(other_runner.err, HasSubstr("device TLS needs the runner loadbalance"));
}

} // namespace
} // namespace teamo::test
