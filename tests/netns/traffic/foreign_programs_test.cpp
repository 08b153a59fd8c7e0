// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Programs and filters of others on the hooks of the team's devices: they stay, they do their work, and they
// hide nothing from the team.
//
// lab: ForeignPrograms.* */CniOrder.* by bpf, 45 s, long
// lab: */CniOrder.* by team on 6.12, 10 s, long
// lab: IngressQdisc.* by team, 5 s
// lab: ForeignFilters.* by bpf, 8 s
#include "kernel/netlink/nftables.h"
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "netns/traffic/foreign_programs.h"
#include "support/net/programs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

TEST(ForeignPrograms, keeps_tc_filters) {
    const Cabling wires(2, FarSide::lag_switch);
    must(wires.host(), "tc qdisc add dev eth1 clsact;"
                       "tc filter add dev eth1 ingress prio 40 protocol ip u32 match u32 0 0 classid 1:1;"
                       "tc filter add dev eth1 egress prio 40 protocol ip u32 match u32 0 0 classid 1:1");
    const auto filters = "tc filter show dev eth1 ingress prio 40; tc filter show dev eth1 egress prio 40";
    const auto before = must(wires.host(), filters);
    const auto whole = snapshot(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ("", difference(whole, snapshot(wires.host(), "eth1")));
}

TEST(ForeignPrograms, keeps_an_empty_clsact) {
    const Cabling wires(2, FarSide::open);
    must(wires.host(), "tc qdisc add dev eth1 clsact");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    EXPECT_EQ(0, team.stop());
    EXPECT_THAT(must(wires.host(), "tc qdisc show dev eth1"), HasSubstr("clsact"));
    EXPECT_EQ("", must(wires.host(), "tc filter show dev eth1 ingress"));
}

TEST(ForeignPrograms, that_remove_ours_lose_no_port) {
    const Cabling wires(2, FarSide::lag_switch);
    const auto whole = snapshot(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    if (by_bonding(wires)) GTEST_SKIP() << "its ports have none";
    const auto eth1 = our_programs(wires.host(), "eth1"), eth2 = our_programs(wires.host(), "eth2");
    ASSERT_NE("", eth1);
    remove_our_programs(wires.host(), "eth1");
    remove_our_programs(wires.host(), "eth2");
    EXPECT_TRUE(eventually("the programs are there again", [&] {
        return our_programs(wires.host(), "eth1") == eth1 && our_programs(wires.host(), "eth2") == eth2;
    }));
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    remove_our_programs(wires.host(), "eth1");
    EXPECT_EQ(0, team.teamoctl({"port", "remove", "eth1"}).status);
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_EQ("", difference(whole, snapshot(wires.host(), "eth1")));
    EXPECT_EQ(0, team.stop());
}

/// By an event, and not by the next look: the program is back in milliseconds. With a filter of another its
/// place is after that.
TEST(ForeignPrograms, that_remove_clsact_are_answered_at_once) {
    const Cabling wires(1, FarSide::lag_switch);
    const PinnedFilter foreign("foreign_in");
    must(wires.host(), fmt::format("tc qdisc add dev eth1 clsact;"
                                   "tc filter add dev eth1 ingress prio 3 handle 9 bpf da object-pinned {}",
                                   foreign.path()));
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    if (by_bonding(wires)) GTEST_SKIP() << "its ports have none";
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    const auto* ours = by_driver(wires) ? "egress teamo_avoid_los" : "ingress teamo_receive";
    for (int round = 0; round < 3; ++round) {
        must(wires.host(), "tc qdisc del dev eth1 clsact");
        EXPECT_TRUE(eventually("the program is there again", [&] {
            return our_programs(wires.host(), "eth1").find(ours) != std::string::npos;
        }));
        EXPECT_TRUE(reaches(wires.client(), team_v4));
        must(wires.host(), fmt::format("tc qdisc add dev eth1 clsact;"
                                       "tc filter add dev eth1 ingress prio 3 bpf da object-pinned {}",
                                       foreign.path()));
    }
    const auto seen = foreign.seen();
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    EXPECT_GT(foreign.seen(), seen) << "a filter that was added later sees the frames too";
    EXPECT_EQ(0, team.stop());
}

/// One that continues sees all frames, whether it came before ours or after it.
TEST(ForeignPrograms, on_tcx_see_the_frames_before_ours) {
    const Cabling wires(1, FarSide::lag_switch);
    if (!ForeignTcx::known(wires.host(), "eth1")) GTEST_SKIP() << "this kernel has no tcx";
    const ForeignTcx earlier(wires.host(), "eth1", DeviceHook::tcx_ingress, TC_ACT_UNSPEC, false);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    const ForeignTcx later(wires.host(), "eth1", DeviceHook::tcx_ingress, TC_ACT_UNSPEC, false);
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    EXPECT_GT(earlier.seen(), 0U);
    EXPECT_GT(later.seen(), 0U);
    if (!by_driver(wires) && !by_bonding(wires)) { // have none on the ingress
        EXPECT_THAT(team.teamoctl({"doctor"}).out, HasSubstr("the tcx program foreign (id "));
    }
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", our_programs(wires.host(), "eth1"));
}

/// Such a filter ends the hook of the port before ours. IPv4 would not show it: the host answers for any
/// device.
TEST(ForeignPrograms, that_accept_frames_hide_none) {
    const Cabling wires(2, FarSide::learning_switch);
    TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    ASSERT_TRUE(reaches(wires.client(), team_v6));
    const std::vector<std::string> ports{"eth1", "eth2"};
    for (const auto& port : ports)
        must(wires.host(), fmt::format("tc qdisc add dev {0} clsact 2>/dev/null;"
                                       "tc filter add dev {0} ingress prio 10 protocol all u32 match u32 0 0 "
                                       "classid 1:1",
                                       port));
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v6, .rate = 1'000});
    EXPECT_TRUE(in.flows()) << "accepted by a filter";
    team.set_item("runner.active_port", "eth2");
    EXPECT_TRUE(in.flows()) << "by the other port";
    auto rules = NetlinkSocket::open(NETLINK_NETFILTER);
    ASSERT_TRUE(rules);
    if (count_forward_rules(*rules, "teamo-team0").value_or(0) != 0) { // of a pair
        ASSERT_TRUE(replace_forward_table(*rules, "teamo-team0", {})) << "as nft flush ruleset";
        EXPECT_TRUE(in.flows()) << "without our table";
        EXPECT_TRUE(becomes(2U, [&] { return count_forward_rules(*rules, "teamo-team0").value_or(0); }));
        EXPECT_THAT(team.teamoctl({"doctor"}).out,
                    HasSubstr("eth1: the tc filter u32 of priority 10 runs before teamo_receive (ingress): "
                              "frames that it accepts (TC_ACT_OK, TCX_PASS) reach the team by nftables"));
    }
    for (const auto& port : ports)
        must(wires.host(), fmt::format("tc filter del dev {} ingress prio 10", port));
    EXPECT_TRUE(becomes(0U, [&] { return count_forward_rules(*rules, "teamo-team0").value_or(9); }));
    EXPECT_TRUE(in.flows());
    in.stop();
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ("", our_programs(wires.host(), "eth1"));
}

/// As Cilium does on an uplink: programs that end classification (TCX_PASS, which is TC_ACT_OK), on the team
/// and on the ports, before ours where they came first and after them where ours did.
class CniOrder : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Runner, CniOrder, testing::Values("activebackup", "loadbalance"),
                         [](const auto& runner) { return runner.param; });

TEST_P(CniOrder, hides_no_packet) {
    const bool backup = std::string_view(GetParam()) == "activebackup";
    const Cabling wires(2, backup ? FarSide::learning_switch : FarSide::lag_switch);
    if (!ForeignTcx::known(wires.host(), "eth1")) GTEST_SKIP() << "this kernel has no tcx";
    std::vector<std::unique_ptr<ForeignTcx>> programs;
    const auto add = [&](const char* device) {
        for (const auto hook : {DeviceHook::tcx_ingress, DeviceHook::tcx_egress})
            programs.push_back(std::make_unique<ForeignTcx>(wires.host(), device, hook, TC_ACT_OK, true));
    };
    add("eth1"); // before the team
    TeamUnderTest team(backup ? ranked_activebackup(2) : loadbalance(2));
    bring_up(wires, team);
    add("eth2"); // after it; tcx tells nobody, so the daemon looks each second
    add("team0");
    const auto caught = [&] { return team.log().find("eth2: the tcx program") != std::string::npos; };
    ASSERT_TRUE(by_driver(wires) || by_bonding(wires) || eventually("what eth2 accepts is caught", caught));
    const auto& [host, client] = std::tie(wires.host(), wires.client());
    for (const auto& [from, to, address] : {std::tuple{&client, &host, team_v4},
                                            {&client, &host, team_v6},
                                            {&host, &client, client_v4},
                                            {&host, &client, client_v6}}) {
        Stream stream({.from = from, .to = to, .address = address, .rate = 1'000});
        EXPECT_TRUE(stream.flows()) << address;
        if (backup)
            team.set_item("runner.active_port", team.item("runner.active_port") == "eth1" ? "eth2" : "eth1");
        EXPECT_TRUE(stream.flows());
        const auto first = stream.next();
        EXPECT_TRUE(stream.flows());
        stream.stop();
        EXPECT_EQ(0U, stream.tally(first, stream.next()).lost) << address;
    }
    // With loadbalance all streams may have chosen one port.
    const auto seen = [&](std::size_t hook) {
        return backup ? std::min(programs[hook]->seen(), programs[hook + 2]->seen())
                      : programs[hook]->seen() + programs[hook + 2]->seen();
    };
    for (const std::size_t hook : {0, 1}) {
        EXPECT_GT(seen(hook), 0U) << "the programs on the ports go on to see the packets";
        EXPECT_GT(programs[hook + 4]->seen(), 0U) << "and those on the team";
    }
    EXPECT_EQ(0, team.stop());
}

/// By which nftables forwards to the team; 9: cannot be read.
std::size_t forward_rules() {
    auto socket = NetlinkSocket::open(NETLINK_NETFILTER);
    return socket ? count_forward_rules(*socket, "teamo-team0").value_or(9) : 9;
}

/// A table that nobody needs any more would drop what the former ports receive once the team is gone.
TEST(ForeignPrograms, that_leave_while_no_daemon_runs_leave_no_table) {
    const Cabling wires(1, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    if (!exists(wires.host(), "tmo0")) GTEST_SKIP() << "only of a pair";
    must(wires.host(), "tc filter add dev eth1 ingress prio 10 protocol all u32 match u32 0 0 classid 1:1");
    ASSERT_TRUE(becomes(1U, forward_rules));
    team.kill();
    must(wires.host(), "tc filter del dev eth1 ingress prio 10");
    team.start();
    EXPECT_TRUE(becomes(0U, forward_rules));
    EXPECT_EQ(0, team.stop());
}

TEST(ForeignPrograms, that_accept_frames_keep_no_program_of_a_team_that_is_deleted) {
    const Cabling wires(2, FarSide::learning_switch);
    TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    if (!exists(wires.host(), "tmo0")) GTEST_SKIP() << "only of a pair";
    for (const auto* port : {"eth1", "eth2"})
        must(wires.host(),
             fmt::format("tc filter add dev {} ingress prio 10 protocol all u32 match u32 0 0 classid 1:1",
                         port));
    ASSERT_TRUE(becomes(2U, forward_rules));
    wires.host().ip("link del team0");
    EXPECT_TRUE(eventually("the daemon ends", [&team] { return !team.running(); }));
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_EQ("", our_programs(wires.host(), port)) << "the port would receive nothing any more";
    EXPECT_EQ(0U, forward_rules());
}

/// The inner end of the pair, whose program sends everything that the host sends.
TEST(ForeignPrograms, that_clear_the_inner_device_are_answered) {
    const Cabling wires(1, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    const auto inner = sh(wires.host(), "ls /sys/class/net | grep tmo").out;
    if (inner.empty()) GTEST_SKIP() << "only of a pair";
    const auto name = inner.substr(0, inner.find('\n'));
    const auto programs = our_programs(wires.host(), name);
    if (programs.empty()) GTEST_SKIP() << "netkit";
    remove_our_programs(wires.host(), name);
    EXPECT_TRUE(eventually("the program is there again",
                           [&] { return our_programs(wires.host(), name) == programs; }));
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_THAT(team.teamoctl({"state", "dump"}).out, HasSubstr(R"("lost": 1)"));
    EXPECT_EQ(0, team.stop());
}

/// Every five seconds the daemon looks for its filters at the next one of its devices, eth1 and the inner
/// one. The kernel would tell `tc monitor` if it asked for clsact.
TEST(ForeignPrograms, that_listen_to_tc_hear_nothing_of_a_team_at_rest) {
    const Cabling wires(1, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    auto monitor = Process::start({.argv = {"tc", "monitor"}, .in = &wires.host()});
    EXPECT_TRUE(eventually("tc monitor listens", [&] {
        must(wires.host(), "tc qdisc add dev lo clsact; tc qdisc del dev lo clsact");
        return monitor.out().find("dev lo") != std::string::npos;
    }));
    std::this_thread::sleep_for(11s);
    EXPECT_THAT(monitor.out(), Not(HasSubstr("eth1")));
    EXPECT_EQ(0, team.stop());
}

TEST(ForeignPrograms, keeps_filters_added_later) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    must(wires.host(), "tc qdisc add dev eth1 clsact 2>/dev/null; " // by tcx ours need none
                       "tc filter add dev eth1 ingress prio 7 protocol ip u32 match u32 0 0 classid 1:7");
    EXPECT_EQ(0, team.stop());
    EXPECT_THAT(must(wires.host(), "tc filter show dev eth1 ingress"), HasSubstr("pref 7 u32"));
}

TEST(ForeignPrograms, keeps_an_xdp_program) {
    const Cabling wires(1, FarSide::lag_switch);
    wires.peer().ip("link set p1 mtu 1500"); // veth accepts XDP only if a packet fits a page
    const ForeignXdp on_port(wires.host(), "eth1");
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    const auto before = on_port.seen();
    EXPECT_TRUE(reaches(wires.host(), client_v4));
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    EXPECT_GE(on_port.seen(), before + 2) << "a reply and a request";
    EXPECT_TRUE(on_port.attached());
    EXPECT_EQ(0, team.stop());
    EXPECT_TRUE(on_port.attached());
}

/// On a pair the kernel lets generic XDP skip all that the ports give to the team.
TEST(ForeignPrograms, of_xdp_on_the_team_see_frames_or_are_named) {
    const Cabling wires(1, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    EXPECT_THAT(ask(team, "doctor").out, Not(HasSubstr("XDP")));
    const ForeignXdp filter(wires.host(), "team0", XDP_FLAGS_SKB_MODE);
    EXPECT_TRUE(reaches(wires.client(), team_v4));
    const auto is_named = [&] {
        return ask(team, "doctor").out.find("team0 has an XDP program, which sees no frame") !=
               std::string::npos;
    };
    if (filter.seen() != 0) {
        EXPECT_FALSE(is_named());
        return;
    }
    EXPECT_TRUE(eventually("doctor names it", is_named, 5s));
    EXPECT_THAT(team.log(), HasSubstr("attach it to the ports"));
    filter.detach();
    EXPECT_TRUE(eventually("it is forgotten", [&] { return !is_named(); }, 5s));
}

/// What they take they take from the team too, as from a port; what they let go reaches it, also by nftables.
TEST(ForeignFilters, that_drop_police_and_mirror_go_on_to) {
    const Cabling wires(1, FarSide::lag_switch);
    const auto& host = wires.host();
    if (sh(host, "tc qdisc add dev eth1 clsact; tc filter add dev eth1 egress prio 9 matchall action drop")
            .status)
        GTEST_SKIP() << "this kernel has no act_gact (the lab's kernels have it)";
    must(host, "tc filter del dev eth1 egress prio 9");
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    const auto stream = [&](const char* address, std::uint16_t port) {
        return Stream::Way{
            .from = &wires.client(), .to = &host, .address = address, .rate = 1'000, .port = port};
    };
    Stream others(stream(team_v6, 5001)), dropped(stream(team_v4, 5002)), policed(stream(team_v4, 5003));
    host.ip("link add mirror0 type veth peer name mirror1\nlink set mirror0 up\nlink set mirror1 up");
    must(host,
         "tc filter add dev eth1 ingress prio 10 protocol ip u32 match ip dport 5002 0xffff action drop;"
         "tc filter add dev eth1 ingress prio 11 protocol ip u32 match ip dport 5003 0xffff "
         "action police rate 100kbit burst 2k conform-exceed drop/continue;"
         "tc filter add dev eth1 ingress prio 12 matchall action mirred egress mirror dev mirror0");
    EXPECT_TRUE(others.flows());
    const auto first = others.next(), first_dropped = dropped.next(), first_policed = policed.next();
    const auto seen = counters(host, "mirror1").rx_packets;
    EXPECT_TRUE(others.flows(1000));
    const auto mirrored = counters(host, "mirror1").rx_packets - seen;
    const auto end = others.next();
    for (auto* one : {&others, &dropped, &policed})
        one->stop();
    EXPECT_EQ(0U, others.tally(first, end).lost);
    EXPECT_GE(mirrored, 1000U) << "of the others, and what the policer lets go";
    const auto none = dropped.tally(first_dropped, dropped.next());
    EXPECT_EQ(none.sent, none.lost) << text_of(none);
    const auto some = policed.tally(first_policed, policed.next());
    EXPECT_GT(some.lost, some.sent / 2) << text_of(some);
    EXPECT_LT(some.lost, some.sent) << text_of(some);
    EXPECT_EQ(0, team.stop());
}

/// As another daemon that wants the first place too: each displaces the other, and the third time ours is
/// left.
TEST(ForeignPrograms, that_insist_on_the_first_place_keep_it_after_three_rounds) {
    const Cabling wires(1, FarSide::lag_switch);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    const auto& host = wires.host();
    if (!exists(host, "tmo0") || !ForeignTcx::known(host, "tmo0")) GTEST_SKIP() << "a pair with tcx has it";
    constexpr auto hook = DeviceHook::tcx_ingress;
    const auto first = [&] {
        const auto ids = read_device_programs(index_of(host, "tmo0"), hook)->ids;
        return ids.empty() ? ProgramId{} : ids.front();
    };
    const auto ours = first();
    if (ours == ProgramId{}) GTEST_SKIP() << "netkit has a place of its own";
    std::vector<std::unique_ptr<ForeignTcx>> others;
    const auto displace = [&] {
        others.push_back(std::make_unique<ForeignTcx>(host, "tmo0", hook, TC_ACT_UNSPEC, true));
    };
    // The log line comes when the daemon has looked again: a program that displaces ours until then would be
    // of the same round.
    const auto rounds = [&team] {
        const auto log = team.log();
        std::size_t count = 0;
        for (auto at = log.find("is first again"); at != std::string::npos;
             at = log.find("is first again", at + 1))
            ++count;
        return count;
    };
    for (std::size_t round = 1; round <= 3; ++round) {
        displace();
        EXPECT_TRUE(becomes(round, rounds));
        EXPECT_EQ(ours, first());
    }
    displace();
    EXPECT_TRUE(stays("another one is first", [&] { return first() != ours; }, 2500ms));
    EXPECT_TRUE(reaches(host, client_v4));
    EXPECT_THAT(ask(team, "doctor").out,
                HasSubstr("tmo0: another program was put before teamo_transmit on ingress three times"));
    EXPECT_EQ(0, team.stop());
}

/// An old shaper's qdisc has no hook for programs on egress, which only the team driver needs on its ports.
TEST(IngressQdisc, keeps_only_ports_out_that_need_egress) {
    const Cabling wires(2, FarSide::lag_switch);
    const auto& host = wires.host();
    must(host, "tc qdisc add dev eth1 ingress; tc qdisc add dev eth2 ingress;"
               "tc filter add dev eth1 ingress prio 40 protocol ip u32 match u32 0 0 classid 1:1");
    const auto filters = must(host, "tc filter show dev eth1 ingress prio 40");
    TeamUnderTest team(loadbalance(2));
    wires.address();
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_TRUE(reaches(host, client_v6));
    if (by_driver(wires)) {
        EXPECT_THAT(ask(team, "doctor").out,
                    HasSubstr("eth1: has an ingress qdisc with filters of another program"));
        EXPECT_THAT(must(host, "tc qdisc show dev eth2"), HasSubstr("clsact")) << "it had no filters";
        must(host, "tc qdisc del dev eth1 ingress");
        EXPECT_EQ(0, team.teamoctl({"port", "add", "eth1"}).status); // without it within 30 s
    } else {
        EXPECT_EQ(filters, must(host, "tc filter show dev eth1 ingress prio 40"));
    }
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_EQ(0, team.stop());
}

TEST(ForeignPrograms, keeps_bpf_filters_and_their_packets) {
    const Cabling wires(1, FarSide::lag_switch);
    const PinnedFilter in("foreign_in"), out("foreign_out");
    must(wires.host(), fmt::format("tc qdisc add dev eth1 clsact;"
                                   "tc filter add dev eth1 ingress prio 3 handle 9 bpf da object-pinned {};"
                                   "tc filter add dev eth1 egress prio 3 handle 9 bpf da object-pinned {}",
                                   in.path(), out.path()));
    const auto filters = "tc filter show dev eth1 ingress prio 3; tc filter show dev eth1 egress prio 3";
    const auto before = must(wires.host(), filters);
    TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    EXPECT_TRUE(reaches(wires.client(), team_v4)) << "our filter runs after one that continues";
    const auto seen_in = in.seen(), seen_out = out.seen();
    Stream stream({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = 1'000});
    Stream back({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = 1'000});
    EXPECT_TRUE(stream.flows(100) && back.flows(100));
    stream.stop();
    back.stop();
    EXPECT_GE(in.seen() - seen_in, stream.next());
    EXPECT_GE(out.seen() - seen_out, back.next());
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(before, must(wires.host(), filters));
    EXPECT_EQ(in.path() + "\n", must(wires.host(), "ls " + in.path()));
}

} // namespace
} // namespace teamo::test
