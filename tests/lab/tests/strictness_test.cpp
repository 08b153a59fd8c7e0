// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Real cards filter by address and VLAN. The cables of all ports lead to one switch outside.
//
// Each kind of card with one datapath; with the other datapath in the long tests.
// lab: *CardFilters.*/team in -k 6.1 -p 2, 50 s, long
// lab: *CardFilters.passes_n*/bpf *CardFilters.passes_v*/bpf in -k newest -n igb -p 2 -c 4, 10 s
// lab: *CardFilters.passes_s*/bpf *CardFilters.passes_g*/bpf in -k newest -n igb -p 2 -c 4, 10 s
// lab: *CardFilters.passes_a*/bpf *CardFilters.restores_after*/bpf in -k newest -n igb -p 2 -c 4, 10 s
// lab: *CardFilters.*/bpf in -k 6.12 -n igb -p 2 -c 4, 70 s, long
// lab: *CardFilters.*/bpf in -k 6.1 -p 2, 60 s, long
// lab: *CardFilters.*/team in -k 6.12 -n igb -p 2 -c 4, 60 s, long
#include "kernel/ethtool/ethtool.h"
#include "lab/guest.h"
#include "lab/lab.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/traffic.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace teamo::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr const char *team_v4 = "10.77.0.1", *peer_v4 = "10.77.0.2", *team_v6 = "fd77::1",
                     *peer_v6 = "fd77::2";

std::string peer(const std::string& line) { return Lab::must_peer(line); }

/// A host at the peer in VLAN 5 (`tagged`: "tag"), or in VLAN 5 inside the service VLAN 9 ("tag_twice").
void put_into_vlan(std::string_view host, std::string_view tagged, std::string_view address) {
    peer(fmt::format("ip link add {0} type veth peer name {0}s; ethtool -K {0} tx off >/dev/null;"
                     "ip link set {0}s master strict0 up; ip link set {0} up; ip addr add {1}/24 dev {0};"
                     "tc qdisc add dev {0}s clsact;"
                     "tc filter add dev {0}s ingress bpf direct-action object-file {3} section tc/{2};"
                     "tc filter add dev {0}s egress bpf direct-action object-file {3} section tc/un{2}",
                     host, address, tagged, TEAMO_VLAN_PEER));
}

/// Whether a packet that the peer sends first arrives. No program listens, so "connection refused" shows
/// arrival.
testing::AssertionResult peer_reaches(const std::string& address) {
    const auto once = fmt::format("timeout 2 bash -c 'echo > /dev/tcp/{}/7' 2>&1 || true", address);
    return eventually(
        "an answer to the peer from " + address,
        [&] { return peer(once).find("refused") != std::string::npos; }, patience);
}

std::vector<std::string> ports() {
    std::vector<std::string> names;
    for (unsigned number = 0; exists(NetNs::current(), fmt::format("eth{}", number)); ++number)
        names.push_back(fmt::format("eth{}", number));
    return names;
}

/// eth0 is the active port, because the peer's switch does not aggregate.
std::string config() {
    std::string object;
    int prio = 100;
    for (const auto& port : ports())
        object += fmt::format(R"({}"{}": {{"prio": {}}})", object.empty() ? "" : ", ", port, --prio);
    return fmt::format(R"({{"device": "team0", "runner": {{"name": "activebackup"}}, "ports": {{{}}}}})",
                       object);
}

bool has(std::string_view port, std::string_view flag) {
    return look(NetNs::current(), port).flags.contains(std::string(flag));
}

Features features_of(std::string_view port) {
    auto ethtool = Ethtool::open();
    const auto features = ethtool->read_features(IfIndex{look(NetNs::current(), port).index});
    if (!features) throw SetupError(features.error().text);
    return *features;
}

/// Everything that must be restored: the device, its filters, sysctls, offloads and addresses.
std::string whole(const std::string& port) {
    return snapshot(NetNs::current(), port) +
           in_guest(fmt::format("ethtool -k {0}; ip -6 -o addr show dev {0} scope global | "
                                "sed 's/.*inet6/inet6/;s/\\\\.*//'",
                                port));
}

class CardFilters : public testing::TestWithParam<const char*> {
protected:
    CardFilters() {
        if (!Lab::present()) return;
        peer("for d in strict0 strict5 strict9; do ip link del $d 2>/dev/null; done;"
             "ip link add strict0 type bridge mcast_snooping 0;"
             "ip link set strict0 up; for d in $(ls -d /sys/class/net/tap*); do"
             " ip link set ${d##*/} master strict0 up; done;"
             "ip addr add 10.77.0.2/24 dev strict0; ip addr add fd77::2/64 dev strict0 nodad");
        for (const auto& port : ports()) {
            // A device gets its queueing discipline when it is first up, and keeps it.
            host_.ip(fmt::format("link set {0} up\nlink set {0} down", port));
            before_.push_back(whole(port));
        }
        team_.emplace(config(), std::vector<std::string>{"--datapath", GetParam()});
        if (!becomes(std::string("eth0"), [&] { return team_->item("runner.active_port"); }, patience))
            throw SetupError("eth0 does not become active\n" + team_->log());
        host_.ip(fmt::format("link set team0 up\naddr add {}/24 dev team0\naddr add {}/64 dev team0 nodad",
                             team_v4, team_v6));
    }
    ~CardFilters() override {
        if (!team_) return;
        if (team_->running()) team_->stop();
        sh(host_, "ip link del team0; ip link del bridge0; ip link del toguest");
        Lab::peer("for d in strict0 strict5 strict9; do ip link del $d; done");
    }
    void SetUp() override {
        if (!Lab::present()) GTEST_SKIP() << "only in the lab: ./quickstart lab -- build/bin/lab_test";
    }

    /// Stops the team, and expects that all settings are restored.
    void expect_put_back() {
        EXPECT_EQ(0, team_->stop());
        std::size_t number = 0;
        for (const auto& port : ports())
            EXPECT_EQ("", difference(before_[number++], whole(port))) << port;
    }

    void use(const std::string& port) {
        const auto link = fmt::format("ports.{}.link_watches.up", port);
        ASSERT_TRUE(becomes(std::string("true"), [&] { return team_->item(link); }, patience));
        team_->set_item("runner.active_port", port);
        ASSERT_TRUE(becomes(port, [&] { return team_->item("runner.active_port"); }, patience));
    }

    /// The team driver adds addresses and VLANs to the card's filters one by one.
    static bool is_bpf() { return std::string_view(GetParam()) == "bpf"; }

    const NetNs host_ = NetNs::current();
    std::vector<std::string> before_;
    std::optional<TeamUnderTest> team_;
};

INSTANTIATE_TEST_SUITE_P(Datapath, CardFilters, testing::Values("bpf", "team"),
                         [](const auto& datapath) { return std::string(datapath.param); });

TEST_P(CardFilters, passes_neighbour_discovery) {
    EXPECT_TRUE(peer_reaches(team_v6)) << "a solicitation is multicast";
    EXPECT_TRUE(peer_reaches(team_v4));
    host_.ip("addr add fd77::1:beef/64 dev team0 nodad");
    EXPECT_TRUE(peer_reaches("fd77::1:beef"));
    use("eth1");
    host_.ip("addr add fd77::1:f00d/64 dev team0 nodad");
    EXPECT_TRUE(peer_reaches("fd77::1:f00d"));
    for (const auto& port : ports())
        EXPECT_FALSE(has(port, "PROMISC")) << port << ": promiscuous mode is not needed";
    expect_put_back();
}

TEST_P(CardFilters, passes_multicast) {
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(7007);
    ASSERT_EQ(0, ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here));
    ip_mreqn group{};
    group.imr_multiaddr.s_addr = ::inet_addr("239.77.3.9");
    group.imr_ifindex = static_cast<int>(look(host_, "team0").index);
    ASSERT_EQ(0, ::setsockopt(socket.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group));
    peer("ip route replace 239.0.0.0/8 dev strict0");
    EXPECT_TRUE(eventually(
        "a datagram to the group",
        [&] {
            peer("bash -c 'echo hello > /dev/udp/239.77.3.9/7007'");
            char byte = 0;
            return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 1;
        },
        patience));
}

/// A DHCP server offers a lease by broadcast.
TEST_P(CardFilters, passes_dhcp) {
    const std::string busybox = std::getenv("TEAMO_LAB_BUSYBOX");
    host_.ip("addr flush dev team0 scope global");
    peer("d=$(mktemp -d); printf 'start 10.77.0.50\nend 10.77.0.50\ninterface strict0\nlease_file %s/leases\n"
         "pidfile %s/pid\n' $d $d >$d/conf; touch $d/leases; " +
         busybox + " udhcpd -S $d/conf </dev/null >/dev/null 2>&1");
    const auto asked = sh(host_, busybox + " udhcpc -i team0 -n -q -t 10 -T 2 -s /bin/true 2>&1");
    EXPECT_EQ(0, asked.status) << asked.out << asked.err;
    EXPECT_THAT(asked.out, HasSubstr("10.77.0.50"));
}

TEST_P(CardFilters, passes_vlans_while_the_team_has_some) {
    put_into_vlan("strict5", "tag", "10.77.5.2");
    host_.ip("link add link team0 name team0.5 type vlan id 5\nlink set team0.5 up\n"
             "addr add 10.77.5.1/24 dev team0.5");
    EXPECT_TRUE(peer_reaches("10.77.5.1"));
    EXPECT_TRUE(reaches(host_, "10.77.5.2", patience));
    use("eth1");
    EXPECT_TRUE(reaches(host_, "10.77.5.2", patience));
    EXPECT_TRUE(peer_reaches("10.77.5.1"));
    const bool fixed = features_of("eth0").active.contains("rx-vlan-filter");
    EXPECT_EQ(fixed && is_bpf(), has("eth0", "PROMISC"));
    host_.ip("link del team0.5");
    EXPECT_TRUE(becomes(false, [] { return has("eth0", "PROMISC") || has("eth1", "PROMISC"); }, patience));
    expect_put_back();
}

TEST_P(CardFilters, passes_stacked_tags) {
    put_into_vlan("strict9", "tag_twice", "10.77.9.2");
    host_.ip("link add link team0 name outer type vlan proto 802.1ad id 9\nlink set outer up\n"
             "link add link outer name inner type vlan id 5\nlink set inner up\n"
             "addr add 10.77.9.1/24 dev inner");
    EXPECT_TRUE(peer_reaches("10.77.9.1"));
    EXPECT_TRUE(reaches(host_, "10.77.9.2", patience));
    host_.ip("link del outer");
}

TEST_P(CardFilters, passes_a_macvlan_in_another_namespace) {
    const auto guest = NetNs::create();
    host_.ip("link add link team0 name guest0 type macvlan mode bridge\nlink set guest0 netns " +
             guest.path());
    EXPECT_TRUE(reaches(host_, peer_v4, patience)) << "the daemon has seen the device leave";
    guest.ip("link set guest0 up\naddr add 10.77.0.3/24 dev guest0\naddr add fd77::3/64 dev guest0 nodad");
    EXPECT_TRUE(peer_reaches("10.77.0.3"));
    EXPECT_TRUE(peer_reaches("fd77::3"));
    EXPECT_TRUE(reaches(guest, peer_v6, patience));
    guest.ip("link del guest0");
    EXPECT_TRUE(becomes(false, [] { return has("eth0", "PROMISC"); }, patience));
    expect_put_back();
}

TEST_P(CardFilters, passes_guests_of_a_bridge) {
    const auto guest = NetNs::create();
    host_.ip(
        "link add bridge0 type bridge forward_delay 0\nlink set bridge0 up\nlink set team0 master bridge0\n"
        "link add toguest type veth peer name guest0 netns " +
        guest.path() + "\nlink set toguest master bridge0 up");
    guest.ip("link set guest0 up\naddr add 10.77.0.3/24 dev guest0\naddr add fd77::3/64 dev guest0 nodad");
    EXPECT_TRUE(peer_reaches("10.77.0.3"));
    EXPECT_TRUE(peer_reaches("fd77::3"));
    guest.ip("link add link guest0 name guest0.5 type vlan id 5\nlink set guest0.5 up\n"
             "addr add 10.77.6.3/24 dev guest0.5");
    put_into_vlan("strict5", "tag", "10.77.6.2");
    EXPECT_TRUE(peer_reaches("10.77.6.3"));
    host_.ip("link set team0 nomaster");
    EXPECT_TRUE(becomes(false, [] { return has("eth0", "PROMISC"); }, patience));
    expect_put_back();
}

TEST_P(CardFilters, restores_after_a_killed_first_start) {
    host_.ip("link add link team0 name team0.5 type vlan id 5\nlink set team0.5 up");
    for (int times = 0; times < 2; ++times) {
        team_->kill();
        team_->start({"--datapath", GetParam()});
    }
    expect_put_back();
}

TEST_P(CardFilters, restores_a_static_address_of_a_removed_port) {
    const auto addresses = [this] { return must(host_, "ip -6 -o addr show dev eth1 scope global"); };
    ASSERT_EQ(0, team_->teamdctl({"port", "remove", "eth1"}).status);
    host_.ip("addr add fd88::5/64 dev eth1 nodad");
    ASSERT_EQ(0, team_->teamdctl({"port", "add", "eth1"}).status);
    EXPECT_EQ("", addresses());
    if (is_bpf()) {
        ASSERT_EQ(0, team_->teamdctl({"port", "remove", "eth1"}).status);
    } else {
        host_.ip("link set eth1 nomaster"); // without the daemon
    }
    EXPECT_TRUE(eventually(
        "the address", [&] { return addresses().find("fd88::5/64") != std::string::npos; }, patience));
    host_.ip("addr flush dev eth1");
}

TEST_P(CardFilters, switches_off_what_is_changeable) {
    if (!is_bpf()) GTEST_SKIP() << "the team driver handles that";
    bool any = false;
    std::size_t number = 0;
    for (const auto& port : ports()) {
        const auto now = features_of(port);
        for (const auto* name : {"rx-lro", "rx-vlan-filter", "rx-vlan-stag-filter"})
            if (now.changeable.contains(name)) {
                EXPECT_FALSE(now.active.contains(name)) << port << " " << name;
                any = true;
            }
        if (now.changeable.contains("rx-lro")) {
            EXPECT_THAT(before_[number], HasSubstr("large-receive-offload: on"));
        }
        ++number;
    }
    if (!any) GTEST_SKIP() << "these cards have no such feature that can be changed";
    team_->kill();
    team_->start();
    expect_put_back();
}

} // namespace
} // namespace teamo::test
