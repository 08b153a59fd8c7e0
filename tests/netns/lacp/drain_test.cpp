// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A port is drained, and then its cable is pulled: nothing is lost, in neither direction, where the other end
// can be told to stop.
//
// lab: Drain.* by team, 60 s, long
// lab: Drain.loses_no_packet_with_bonding_as_partner by bpf on newest, 20 s
// lab: Drain.* by bpf on 6.1, 60 s, long
// lab: Drain.of_* by bond, 40 s, long
#include "netns/configs.h"
#include "netns/team_driver.h"
#include "support/daemon/lacp_partner.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>

namespace teamo::test {
namespace {

using testing::HasSubstr;

std::string drain_of(const TeamUnderTest& team, const std::string& port, std::string_view key = "phase") {
    return team.item(fmt::format("ports.{}.drain.{}", port, key));
}

/// Both ways between the host and the far team or bond, on all ports: many flows, together that many packets
/// a second each way.
class Traffic {
public:
    Traffic(const Cabling& wires, const NetNs& far, unsigned rate) : host_(wires.host()), far_(far) {
        for (std::uint16_t flow = 0; flow < flows; ++flow) {
            const auto port = static_cast<std::uint16_t>(5001 + flow);
            out_.push_back(std::make_unique<Stream>(Stream::Way{
                .from = &host_, .to = &far_, .address = client_v4, .rate = rate / flows, .port = port}));
            in_.push_back(std::make_unique<Stream>(Stream::Way{
                .from = &far_, .to = &host_, .address = team_v4, .rate = rate / flows, .port = port}));
        }
    }
    bool flows_on(std::uint64_t packets) const {
        return std::ranges::all_of(out_, [&](const auto& one) { return one->flows(packets); }) &&
               std::ranges::all_of(in_, [&](const auto& one) { return one->flows(packets); });
    }
    void stop() {
        for (const auto* way : {&out_, &in_})
            for (const auto& stream : *way)
                stream->stop();
    }
    /// What is sent from now on counts apart.
    void mark() {
        for (const auto* way : {&out_, &in_})
            for (const auto& stream : *way)
                marks_[stream.get()] = stream->next();
    }
    std::uint64_t lost(const std::vector<std::unique_ptr<Stream>>& way, bool after_mark = false) const {
        std::uint64_t sum = 0;
        for (const auto& stream : way) {
            const auto found = marks_.find(stream.get());
            const auto mark = found == marks_.end() ? stream->next() : found->second;
            const auto tally = after_mark ? stream->tally(mark, stream->next()) : stream->tally(0, mark);
            sum += tally.lost + tally.duplicated;
        }
        return sum;
    }
    std::uint64_t lost_after_mark() const { return lost(out_, true) + lost(in_, true); }
    static std::uint64_t sent(const std::vector<std::unique_ptr<Stream>>& way) {
        std::uint64_t sum = 0;
        for (const auto& stream : way)
            sum += stream->tally().sent;
        return sum;
    }
    void report() const {
        fmt::print("out: {} of {} lost or twice; in: {} of {}\n", lost(out_), sent(out_), lost(in_),
                   sent(in_));
    }
    std::uint64_t lost_out() const { return lost(out_); }
    std::uint64_t lost_in() const { return lost(in_); }

private:
    static constexpr std::uint16_t flows = 8;
    const NetNs& host_;
    const NetNs& far_;
    std::vector<std::unique_ptr<Stream>> out_, in_;
    std::map<const Stream*, std::uint64_t> marks_;
};

unsigned rate() { return emulated() ? 800U : 20'000U; }
std::uint64_t a_while() { return emulated() ? 20 : 500; }

class Drain : public testing::Test {
protected:
    std::uint64_t counted(const TeamUnderTest& team, const std::string& port,
                          std::string_view counter) const {
        const auto text = team.item(fmt::format("ports.{}.datapath.counters.{}_packets", port, counter));
        return text.empty() ? 0 : std::stoull(text);
    }
    /// Both ways, so that it means something when they stop.
    void expect_use_of(const TeamUnderTest& team, const std::string& port) const {
        const auto tx = counted(team, port, "tx"), rx = counted(team, port, "rx");
        EXPECT_TRUE(eventually(port + " carries both ways", [&] {
            return counted(team, port, "tx") > tx + 100 && counted(team, port, "rx") > rx + 100;
        }));
    }
    static Output drain(const TeamUnderTest& team, const std::string& port) {
        return team.teamoctl({"port", "drain", port}, {"-t", emulated() ? "120" : "40"});
    }
    static auto can_be_unplugged(const std::string& port) {
        return testing::Eq(port + " can be unplugged\n");
    }
    testing::AssertionResult distributes(const TeamUnderTest& team, const std::string& port) const {
        return team.await_item(fmt::format("ports.{}.runner.detail.mux_state", port), "distributing");
    }
    testing::AssertionResult both_distribute(const TeamUnderTest& team) const {
        const auto first = distributes(team, "eth1");
        return first ? distributes(team, "eth2") : first;
    }
    /// Drains eth2, pulls it, plugs it and brings it back, under traffic.
    void drain_and_pull(const TeamUnderTest& team, Traffic& traffic) {
        expect_use_of(team, "eth2");
        const auto start = SteadyClock::now();
        const auto drained = drain(team, "eth2");
        fmt::print("drained after {} ms\n", since(start).count());
        ASSERT_EQ(0, drained.status) << drained.err << team.item("ports.eth2.drain.received_per_second");
        EXPECT_THAT(drained.out, can_be_unplugged("eth2"));
        EXPECT_EQ("false", team.item("ports.eth2.datapath.transmits"));
        EXPECT_TRUE(traffic.flows_on(a_while()));
        wires_.pull(2);
        EXPECT_TRUE(team.await_link("eth2", false));
        EXPECT_TRUE(traffic.flows_on(a_while()));
        wires_.plug(2);
        EXPECT_TRUE(team.await_link("eth2"));
        EXPECT_TRUE(traffic.flows_on(a_while()));
        EXPECT_EQ("false", team.item("ports.eth2.datapath.transmits"));
        traffic.mark();
        EXPECT_EQ(0, team.teamoctl({"port", "undrain", "eth2"}).status);
        EXPECT_TRUE(team.await_item("ports.eth2.datapath.transmits", "true"));
        expect_use_of(team, "eth2");
        traffic.stop();
        traffic.report();
        EXPECT_EQ(0U, traffic.lost_out());
        EXPECT_EQ(0U, traffic.lost_in());
        fmt::print("{} lost while it came back\n", traffic.lost_after_mark());
        // A side whose driver enables both ways together begins when the other is in synchronization, and may
        // not collect yet (802.1AX, coupled control).
        if (!by_driver(wires_)) {
            EXPECT_EQ(0U, traffic.lost_after_mark());
        }
    }

    Cabling wires_{2, FarSide::open};
};

TEST_F(Drain, loses_no_packet_with_a_team_as_lacp_partner) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires_)) GTEST_SKIP() << "the LACP is bonding's";
    Partner partner(wires_, {1, 2});
    wires_.host().ip("link set team0 up");
    ASSERT_TRUE(both_distribute(team));
    wires_.address();
    partner.address();
    Traffic traffic(wires_, wires_.peer(), rate());
    drain_and_pull(team, traffic);
}

TEST_F(Drain, loses_no_packet_with_bonding_as_partner) {
    if (!kernel_has_driver("bond")) GTEST_SKIP() << "this kernel has no bonding";
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires_)) GTEST_SKIP() << "the LACP is bonding's";
    const auto& far = wires_.peer();
    far.ip("link add bond0 type bond mode 802.3ad lacp_rate fast miimon 10 xmit_hash_policy layer3+4");
    for (const auto* port : {"p1", "p2"})
        far.ip(fmt::format("link set {0} down\nlink set {0} mtu 1500\nlink set {0} master bond0", port));
    far.ip(fmt::format("link set bond0 up\naddr add {}/24 dev bond0", client_v4));
    wires_.host().ip("link set team0 up");
    ASSERT_TRUE(both_distribute(team));
    wires_.address();
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    Traffic traffic(wires_, far, rate());
    drain_and_pull(team, traffic);
}

/// Its partner cannot be told: what it still sends is counted, received, and lost with the cable.
TEST_F(Drain, of_a_static_team_says_what_still_arrives) {
    TeamUnderTest team(loadbalance(2));
    Partner partner(wires_, {1, 2}, "team1", by_flow);
    bring_up(wires_, team);
    partner.address();
    Traffic traffic(wires_, wires_.peer(), rate());
    expect_use_of(team, "eth2");
    const auto asked = team.teamoctl({"port", "drain", "eth2"}, {"--timeout=8"});
    EXPECT_EQ(1, asked.status);
    EXPECT_EQ("", asked.out);
    EXPECT_THAT(asked.err,
                HasSubstr("team0: port drain eth2: not drained after 8 s: the other end still sends"));
    EXPECT_THAT(asked.err, HasSubstr("teamoctl team0 port undrain eth2"));
    EXPECT_EQ("receiving", drain_of(team, "eth2"));
    const auto received = std::stoul(drain_of(team, "eth2", "received_per_second"));
    fmt::print("{} frames a second still arrive\n", received);
    EXPECT_GT(received, 50U);
    const auto tx = counted(team, "eth2", "tx");
    EXPECT_TRUE(traffic.flows_on(a_while()));
    if (!by_bonding(wires_)) {
        EXPECT_EQ(tx, counted(team, "eth2", "tx")) << "nothing is sent by it";
    }
    wires_.pull(2);
    EXPECT_TRUE(team.await_item("ports.eth2.drain.phase", "drained")) << "nothing arrives any more";
    EXPECT_TRUE(traffic.flows_on(a_while()));
    traffic.stop();
    fmt::print("with the cable the host lost {} packets, the other end {}\n", traffic.lost_out(),
               traffic.lost_in());
    EXPECT_EQ(0U, traffic.lost_out());
}

TEST_F(Drain, survives_a_kill) {
    TeamUnderTest team(team_config(fast, ports_object(2)));
    if (by_bonding(wires_)) GTEST_SKIP() << "the LACP is bonding's";
    Partner partner(wires_, {1, 2});
    wires_.host().ip("link set team0 up");
    ASSERT_TRUE(both_distribute(team));
    ASSERT_EQ(0, drain(team, "eth2").status);
    for (int round = 0; round < 2; ++round) {
        team.kill();
        team.start();
        EXPECT_EQ("drained", drain_of(team, "eth2")) << "goes on where it was";
        EXPECT_EQ("true", drain_of(team, "eth2", "by_hand"));
        EXPECT_EQ("false", team.item("ports.eth2.datapath.transmits"));
        EXPECT_EQ("0", team.item("ports.eth2.datapath.buckets"));
    }
    EXPECT_EQ("it is drained", team.item("ports.eth2.runner.detail.not_used_because"));
    const auto log = team.log();
    const std::string_view carries = "eth2 carries; ";
    EXPECT_EQ(log.find(carries), log.rfind(carries)) << "only at the first start\n" << log;
    EXPECT_EQ(0, team.teamoctl({"port", "undrain", "eth2"}).status);
    EXPECT_TRUE(distributes(team, "eth2"));
    EXPECT_EQ(0, drain(team, "eth1").status);
    EXPECT_EQ(0, team.teamoctl({"port", "drain", "eth2"}, {"--force"}).status) << "also the last one";
    EXPECT_EQ("false", team.item("ports.eth2.datapath.transmits"));
    EXPECT_TRUE(distributes(team, "eth1")) << "drained, but not by force";
}

TEST_F(Drain, of_a_static_team_keeps_a_port_that_must_carry) {
    TeamUnderTest team(loadbalance(2));
    Partner partner(wires_, {1, 2}, "team1", by_flow);
    bring_up(wires_, team);
    partner.address();
    ASSERT_TRUE(reaches(wires_.host(), client_v4));
    const auto asked = team.teamoctl({"port", "drain", "eth2"}, {"--dry-run"});
    EXPECT_EQ(0, asked.status) << asked.err;
    EXPECT_THAT(asked.out, testing::AllOf(HasSubstr("without eth2, which sends"), HasSubstr("would send")));
    EXPECT_EQ("none", drain_of(team, "eth2")) << "nothing is changed";
    ASSERT_EQ(0, drain(team, "eth2").status);
    EXPECT_EQ(1, team.teamoctl({"port", "drain", "eth1"}, {"--dry-run"}).status);
    const auto refused = drain(team, "eth1");
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err, HasSubstr("team0: port drain eth1: Failed to drain port: no other port carries; "
                                       "--force drains it nevertheless"));
    EXPECT_EQ("none", drain_of(team, "eth1"));
    wires_.pull(1);
    EXPECT_TRUE(team.await_item("ports.eth2.datapath.transmits", "true")) << "no other port can";
    EXPECT_TRUE(reaches(wires_.host(), client_v4));
    EXPECT_EQ("moving", drain_of(team, "eth2"));
    EXPECT_THAT(team.teamoctl({"doctor"}).out, HasSubstr("teamoctl team0 port undrain eth2"));
    wires_.plug(1);
    EXPECT_TRUE(team.await_item("ports.eth2.drain.phase", "drained"));
    EXPECT_THAT(team.teamoctl({"metrics"}).out, HasSubstr(R"(port_drained{team="team0",port="eth2"} 1)"));
    EXPECT_THAT(team.teamdctl({"state", "view"}).out, HasSubstr("eth2"));
    EXPECT_EQ(0, team.teamoctl({"port", "drain", "eth1"}, {"--force"}).status);
    EXPECT_TRUE(team.await_item("ports.eth1.datapath.transmits", "false"));
    wires_.host().ip("link set eth2 down");
    EXPECT_TRUE(team.await_link("eth2", false));
    EXPECT_EQ("false", team.item("ports.eth1.datapath.transmits")) << "not even if it is the last";
    EXPECT_EQ(1, team.teamoctl({"port", "drain", "eth9"}).status);
    EXPECT_EQ(2, team.teamoctl({"port", "drain", "eth1"}, {"-t", "0"}).status);
    EXPECT_EQ(2, team.teamoctl({"port", "undrain", "eth1"}, {"--force"}).status);
}

TEST_F(Drain, of_a_configured_port) {
    TeamUnderTest team(team_config(by_flow, R"({"eth1": {}, "eth2": {"drain": true}})"));
    Partner partner(wires_, {1, 2}, "team1", by_flow);
    bring_up(wires_, team);
    EXPECT_TRUE(team.await_item("ports.eth2.drain.phase", "drained"));
    EXPECT_EQ("false", drain_of(team, "eth2", "by_hand"));
    EXPECT_EQ("256", team.item("ports.eth1.datapath.buckets"));
    EXPECT_TRUE(eventually("doctor says so, when what the new links send is over", [&] {
        const auto found = team.teamoctl({"doctor"}).out;
        return found.find("eth2: is drained, by the configuration") != std::string::npos;
    }));
    EXPECT_EQ(0, team.teamoctl({"port", "undrain", "eth2"}).status);
    EXPECT_TRUE(team.await_item("ports.eth2.datapath.buckets", "128"));
    team.kill();
    team.start();
    EXPECT_EQ("none", drain_of(team, "eth2")) << "what was said by hand counts";
    EXPECT_EQ(0, team.teamoctl({"port", "config", "update", "eth2", "{}"}).status);
    EXPECT_EQ(0, team.teamoctl({"port", "config", "update", "eth2", R"({"drain": true})"}).status);
    EXPECT_TRUE(team.await_item("ports.eth2.drain.phase", "drained")) << "the configuration says it anew";
}

/// The switch answers by the port that has asked.
TEST(DrainedPort, does_not_wait_for_its_own_probes) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(team_config(
        by_flow, ports_object(2),
        fmt::format(R"("link_watch": {{"name": "arp_ping", "interval": 100, "target_host": "{}"}}, )",
                    client_v4)));
    bring_up(wires, team);
    const auto asked = team.teamoctl({"port", "drain", "eth2"}, {"--timeout=8"});
    EXPECT_EQ(0, asked.status) << asked.err << drain_of(team, "eth2", "received_per_second");
    EXPECT_EQ("true", team.item("ports.eth2.link.up"));
    EXPECT_EQ(0, team.teamoctl({"port", "undrain", "eth2"}).status);
    EXPECT_TRUE(team.await_item("ports.eth2.datapath.transmits", "true"));
}

TEST(DrainedActivePort, hands_over_without_loss) {
    const Cabling wires(2, FarSide::learning_switch);
    TeamUnderTest team(ranked_activebackup(2));
    bring_up(wires, team);
    Stream out({.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rate = rate()});
    Stream in({.from = &wires.client(), .to = &wires.host(), .address = team_v4, .rate = rate()});
    ASSERT_EQ("eth1", team.item("runner.active_port"));
    const auto drained = team.teamoctl({"port", "drain", "eth1"});
    ASSERT_EQ(0, drained.status) << drained.err;
    EXPECT_EQ("eth2", team.item("runner.active_port"));
    EXPECT_EQ("false", team.item("ports.eth1.datapath.receives"));
    wires.pull(1);
    EXPECT_TRUE(out.flows(a_while()) && in.flows(a_while()));
    wires.plug(1);
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_EQ("eth2", team.item("runner.active_port")) << "although eth1 has the higher prio";
    EXPECT_EQ(1, team.teamoctl({"state", "item", "set", "runner.active_port", "eth1"}).status);
    out.stop();
    in.stop();
    fmt::print("out: {}\nin: {}\n", text_of(out.tally()), text_of(in.tally()));
    if (by_driver(wires) || by_bonding(wires)) return; // a backup port receives nothing
    EXPECT_EQ(0U, out.tally().lost + out.tally().duplicated) << text_of(out.tally());
    EXPECT_EQ(0U, in.tally().lost + in.tally().duplicated) << text_of(in.tally());
}

} // namespace
} // namespace teamo::test
