// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The link watches arp_ping, nsna_ping and tipc.
//
// lab: Ping*.* Family/PingOf.* Tipc.* by team, 30 s, long
// lab: Tipc.* by bpf, 10 s, long
// lab: PingWithLacp.* by team on newest, 12 s
#include "netns/configs.h"
#include "support/daemon/lacp_partner.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"
#include "watch/probe_frames.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

/// `more`: further keys of the watch, each after a comma.
std::string arp_ping(std::string_view more = "") {
    return fmt::format(R"("link_watch": {{"name": "arp_ping", "interval": 100, "target_host": "{}"{}}}, )",
                       client_v4, more);
}
std::string nsna_ping() {
    return fmt::format(R"("link_watch": {{"name": "nsna_ping", "interval": 100, "target_host": "{}"}}, )",
                       client_v6);
}

void take_from_switch(const Cabling& wires, unsigned port) {
    wires.peer().ip(fmt::format("link set {} nomaster", Cabling::far_end(port)));
}
void return_to_switch(const Cabling& wires, unsigned port) {
    wires.peer().ip(fmt::format("link set {} master br0", Cabling::far_end(port)));
}

class Ping : public testing::Test {
protected:
    void address_client(const Cabling& wires) {
        wires.client().ip(fmt::format("addr replace {}/24 dev client0\naddr replace {}/64 dev client0",
                                      client_v4, client_v6));
    }
};

class PingOf : public Ping, public testing::WithParamInterface<const char*> {
protected:
    std::string watch() const { return GetParam() == std::string("arp") ? arp_ping() : nsna_ping(); }
};
INSTANTIATE_TEST_SUITE_P(Family, PingOf, testing::Values("arp", "nsna"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(PingOf, replaces_an_active_port_that_leads_nowhere) {
    const Cabling wires(2, FarSide::learning_switch);
    address_client(wires);
    TeamUnderTest team(team_config(activebackup, R"({"eth1": {"prio": 10}, "eth2": {}})", watch()));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    wires.address();
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    take_from_switch(wires, 1);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
    EXPECT_EQ("true", team.item("ports.eth1.link.up")) << "the cable is still there";
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_THAT(team.log(), HasSubstr("port eth1 gets no answer (link watch) and no longer carries"));
    return_to_switch(wires, 1);
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
}

TEST_P(PingOf, leaves_a_balanced_port_that_leads_nowhere) {
    const Cabling wires(2, FarSide::lag_switch);
    address_client(wires);
    TeamUnderTest team(team_config(by_flow, ports_object(2), watch()));
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    for (const unsigned dead : {2U, 1U}) {
        take_from_switch(wires, dead);
        EXPECT_TRUE(team.await_link(Cabling::port(dead), false));
        EXPECT_TRUE(team.link_is_up(Cabling::port(3 - dead)));
        return_to_switch(wires, dead);
        EXPECT_TRUE(team.await_link(Cabling::port(dead)));
    }
}

TEST_P(PingOf, recovers_when_the_target_comes_late) {
    const Cabling wires(2, FarSide::learning_switch);
    wires.client().ip("link set client0 down");
    const auto validated = GetParam() == std::string("arp")
                               ? arp_ping(R"(, "validate_active": true, "validate_inactive": true)")
                               : nsna_ping();
    TeamUnderTest team(team_config(activebackup, ports_object(2), validated));
    EXPECT_TRUE(stays("down", [&] { return !team.link_is_up("eth1") && !team.link_is_up("eth2"); }, 300ms));
    EXPECT_EQ("", team.item("runner.active_port"));
    wires.client().ip("link set client0 up");
    address_client(wires);
    EXPECT_TRUE(eventually("an active port", [&] { return !team.item("runner.active_port").empty(); }));
    wires.address();
    EXPECT_TRUE(reaches(wires.host(), client_v4));
}

TEST_F(Ping, keeps_the_ports_over_a_restart) {
    const Cabling wires(2, FarSide::learning_switch);
    address_client(wires);
    TeamUnderTest team(team_config(activebackup, ports_object(2), arp_ping(R"(, "init_wait": 2000)")));
    ASSERT_TRUE(eventually("an active port", [&] { return !team.item("runner.active_port").empty(); }));
    const auto active = team.item("runner.active_port");
    wires.address();
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 2'000});
    team.kill();
    team.start();
    EXPECT_EQ(active, team.item("runner.active_port"));
    EXPECT_TRUE(out.flows(1'000));
    out.stop();
    EXPECT_EQ(0U, out.tally().lost) << text_of(out.tally());
}

TEST_F(Ping, leaves_a_dead_port_out_over_a_restart) {
    const Cabling wires(2, FarSide::learning_switch);
    address_client(wires);
    TeamUnderTest team(team_config(activebackup, R"({"eth1": {"prio": 10}, "eth2": {}})", arp_ping()));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth1"));
    wires.address();
    take_from_switch(wires, 1);
    ASSERT_TRUE(team.await_item("runner.active_port", "eth2"));
    // Towards the host, because a probe by the wrong port would mislead the switch.
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 2'000});
    for (int round = 0; round < 3; ++round) {
        team.kill();
        team.start();
        EXPECT_EQ("eth2", team.item("runner.active_port"));
        EXPECT_TRUE(in.flows(1'000));
    }
    in.stop();
    EXPECT_EQ(0U, in.tally().lost) << text_of(in.tally());
}

TEST_F(Ping, needs_all_watches_by_policy_all) {
    const Cabling wires(1, FarSide::learning_switch);
    wires.client().ip("link set client0 down");
    const auto both = fmt::format(R"("link_watch_policy": "all", "link_watch": [{{"name": "ethtool"}},
        {{"name": "arp_ping", "interval": 100, "target_host": "{}"}}], )",
                                  client_v4);
    TeamUnderTest team(team_config(activebackup, ports_object(1), both));
    EXPECT_TRUE(team.await_item("ports.eth1.link_watches.list.link_watch_0.up", "true"));
    EXPECT_FALSE(team.link_is_up("eth1"));
    wires.client().ip("link set client0 up");
    address_client(wires);
    EXPECT_TRUE(team.await_link("eth1"));
}

/// The test is the far side: it answers with frames of its own.
class PingAnswer : public testing::Test {
protected:
    PingAnswer() : wires_(1, FarSide::open), far_(wires_.peer(), "p1") { wires_.peer().ip("link set p1 up"); }

    Seen await_probe() const {
        const auto seen = far_.await([](const Seen& one) { return parse_arp(one.frame).has_value(); });
        if (!seen) throw SetupError("no probe");
        return *seen;
    }
    Bytes reply_to(const Seen& probe, std::string_view sender, std::string_view target,
                   std::optional<std::uint16_t> vlan = std::nullopt) const {
        FrameWriter frame;
        frame.mac(source_of(probe.frame)).mac(far_mac_);
        if (vlan) frame.big_endian(ether_vlan).big_endian(*vlan);
        frame.big_endian(ether_arp).big_endian(std::uint64_t{0x0001080006040002});
        frame.mac(far_mac_).ip(*parse_ip(sender)).mac(source_of(probe.frame)).ip(*parse_ip(target));
        return frame.take();
    }
    /// Replies to each probe for a while; true if the link came up.
    bool comes_up(TeamUnderTest& team, std::string_view sender, std::string_view target,
                  std::optional<std::uint16_t> vlan = std::nullopt) const {
        for (int count = 0; count < 4; ++count) {
            far_.send(reply_to(await_probe(), sender, target, vlan));
            if (team.link_is_up("eth1")) return true;
        }
        return false;
    }

    const Cabling wires_;
    PacketSocket far_;
    const MacAddress far_mac_ = mac("02:00:00:00:00:99");
};

TEST_F(PingAnswer, needs_the_vlan_of_the_probe) {
    TeamUnderTest team(
        team_config(activebackup, ports_object(1), arp_ping(R"(, "vlanid": 42, "validate_active": true)")));
    EXPECT_EQ(std::optional<std::uint16_t>(42), await_probe().tag);
    EXPECT_FALSE(comes_up(team, client_v4, "0.0.0.0"));
    EXPECT_FALSE(comes_up(team, client_v4, "0.0.0.0", 43));
    EXPECT_TRUE(comes_up(team, client_v4, "0.0.0.0", 42));
}

TEST_F(PingAnswer, may_be_any_arp_without_validation) {
    TeamUnderTest team(team_config(activebackup, ports_object(1), arp_ping()));
    EXPECT_TRUE(comes_up(team, "10.0.0.77", "10.0.0.78"));
}

TEST_F(PingAnswer, is_of_the_target_if_validated) {
    TeamUnderTest team(team_config(
        activebackup, ports_object(1),
        arp_ping(R"(, "source_host": "10.0.0.1", "validate_active": true, "validate_inactive": true)")));
    EXPECT_FALSE(comes_up(team, "10.0.0.77", team_v4));
    EXPECT_FALSE(comes_up(team, client_v4, "10.0.0.78"));
    EXPECT_TRUE(comes_up(team, client_v4, team_v4));
}

TEST_F(PingAnswer, is_shown_as_by_teamd) {
    TeamUnderTest team(team_config(
        activebackup, ports_object(1),
        R"("link_watch": {"name": "arp_ping", "interval": 60000, "missed_max": 5, "target_host": "10.0.0.2"}, )"));
    const auto view = team.teamdctl({"state", "view", "-v"}).out;
    for (const auto* line :
         {"name: arp_ping", "target host: 10.0.0.2", "source host: 0.0.0.0", "interval: 60000",
          "missed packets: 0/5", "validate_active: no", "send_always: no", "initial wait: 0"})
        EXPECT_THAT(view, HasSubstr(line));
    EXPECT_EQ(view, team.teamoctl({"state", "view", "-v"}).out);
}

TEST_F(PingAnswer, is_awaited_in_vain_if_the_host_is_unknown) {
    TeamUnderTest team(team_config(activebackup, ports_object(1),
                                   R"("link_watch": {"name": "arp_ping", "interval": 100,
                                      "target_host": "no-such-host.invalid"}, )"));
    EXPECT_TRUE(eventually("a warning", [&] {
        return team.log().find("port eth1: link watch arp_ping: host no-such-host.invalid: ") !=
               std::string::npos;
    }));
    EXPECT_FALSE(team.link_is_up("eth1"));
}

TEST_F(PingAnswer, is_not_needed_by_a_port_that_waits_for_its_lacp_partner) {
    TeamUnderTest team(team_config(fast, ports_object(1), arp_ping()));
    if (by_bonding(wires_)) GTEST_SKIP() << "bonding uses its first port before it has a partner";
    wires_.host().ip("link set team0 up");
    EXPECT_TRUE(team.await_item("ports.eth1.runner.state", "defaulted"));
    EXPECT_TRUE(team.link_is_up("eth1"));
}

TEST(Tipc, is_refused_in_one_line_without_the_kernels_tipc) {
    const Cabling wires(1, FarSide::open);
    if (UniqueFd(::socket(AF_TIPC, SOCK_SEQPACKET, 0))) GTEST_SKIP() << "this kernel has TIPC";
    TeamUnderTest team(team_config(activebackup, ports_object(1),
                                   R"("link_watch": {"name": "tipc", "tipc_bearer": "eth1"}, )"));
    EXPECT_THAT(team.log(), HasSubstr("no link watch tipc: cannot ask TIPC for its links: "));
    EXPECT_FALSE(team.link_is_up("eth1"));
    EXPECT_EQ("tipc", team.item("ports.eth1.link_watches.list.link_watch_0.name"));
}

TEST(Tipc, follows_the_links_of_each_bearer) {
    const Cabling wires(2, FarSide::open);
    if (emulated()) must(wires.host(), "modprobe tipc"); // Debian's kernel does not load it by itself
    if (!UniqueFd(::socket(AF_TIPC, SOCK_SEQPACKET, 0))) GTEST_SKIP() << "this kernel has no TIPC";
    must(wires.host(), "tipc node set identity host");
    must(wires.peer(), "tipc node set identity peer");
    const auto bearer = [](const NetNs& in, const char* verb, const std::string& device) {
        must(in, fmt::format("tipc bearer {} media eth device {}", verb, device));
    };
    TeamUnderTest team(
        team_config(activebackup, R"({"eth1": {"link_watch": {"name": "tipc", "tipc_bearer": "eth1"}},
        "eth2": {"link_watch": {"name": "tipc", "tipc_bearer": "eth:eth2"}}})"));
    for (const unsigned number : {1U, 2U}) {
        bearer(wires.host(), "enable", Cabling::port(number));
        bearer(wires.peer(), "enable", Cabling::far_end(number));
    }
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_TRUE(team.await_link(port)) << port;
    bearer(wires.peer(), "disable", "p1");
    EXPECT_TRUE(team.await_link("eth1", false));
    EXPECT_TRUE(team.link_is_up("eth2"));
    EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
    bearer(wires.peer(), "enable", "p1");
    EXPECT_TRUE(team.await_link("eth1"));
}

class PingWithLacp : public testing::Test {
protected:
    const Cabling wires_{2, FarSide::open};
};

TEST_F(PingWithLacp, holds_ports_whose_far_side_is_dead) {
    TeamUnderTest team(team_config(fast, ports_object(2), arp_ping()));
    Partner partner(wires_, {1, 2});
    wires_.host().ip("link set team0 up");
    partner.address();
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", port), "true"));
    EXPECT_TRUE(team.await_item("ports.eth1.link_watches.list.link_watch_0.missed", "0"));
    wires_.peer().ip("link set team1 arp off");
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", port), "false"));
    EXPECT_TRUE(eventually("no carrier, which a bond cannot withhold",
                           [&] { return by_bonding(wires_) || !look(wires_.host(), "team0").carrier(); }));
    EXPECT_THAT(team.item("ports.eth1.runner.detail.not_used_because"), HasSubstr("no answer"));
    // Since 7.x the team driver enables the two ways apart: a held port still receives.
    const auto option = [&](const char* name) {
        return sh(wires_.host(), fmt::format("teamnl -p eth1 team0 getoption {}", name));
    };
    const bool apart = by_driver(wires_) && option("rx_enabled").status == 0;
    if (apart) {
        EXPECT_EQ("true\n", option("rx_enabled").out);
        EXPECT_EQ("false\n", option("tx_enabled").out);
        // Another program's change is repaired, and a write of ours is not taken for one.
        must(wires_.host(), "teamnl -p eth1 team0 setoption rx_enabled false");
        EXPECT_TRUE(becomes(std::string("true\n"), [&] { return option("rx_enabled").out; }));
    }
    wires_.peer().ip("link set team1 arp on");
    if (by_driver(wires_) && !apart) return; // with coupled control it takes at least ten seconds
    EXPECT_TRUE(team.await_item("ports.eth1.datapath.transmits", "true"));
    if (!apart) return;
    EXPECT_EQ("true\n", option("tx_enabled").out);
}

} // namespace
} // namespace teamo::test
