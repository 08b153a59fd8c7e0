// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The hash "cpu" uses the port of the sending CPU. moved_sender_measure.cpp tests that it does not reorder a
// flow.
//
// lab: HashByCpu.* by team, 20 s, long
// lab: HashByCpu.* by bpf on 6.12, 15 s, long
// lab: HashByCpu.* by bpf on 6.1, 15 s, long
#include "netns/configs.h"
#include "support/net/far_ends.h"
#include "support/traffic/frames.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view by_cpu = R"({"name": "loadbalance", "tx_hash": ["cpu"]})",
                           by_cpu_and_mac = R"({"name": "loadbalance", "tx_hash": ["cpu", "eth"]})";
constexpr std::size_t flows_each = 16;

/// Sends `flows_each` flows of one frame from one CPU and counts the frames of each port. `first`: the number
/// of the first flow, so that calls use different flows.
std::vector<std::size_t> sent_from(const Cabling& wires, unsigned cpu, std::uint32_t first) {
    const PacketSocket team(wires.host(), "team0");
    const FarEnds far(wires, ether_experiment);
    const auto own = mac(look(wires.host(), "team0").address);
    {
        const OnCpu here(cpu);
        for (std::uint32_t flow = 0; flow < flows_each; ++flow)
            team.send(
                ethernet(mac("02:00:00:00:00:02") + (first + flow), own, ether_experiment, "from a CPU"));
    }
    std::vector<std::size_t> counts;
    for (const auto& arrived : far.drain(flows_each))
        counts.push_back(arrived.size());
    return counts;
}

class HashByCpu : public testing::Test {
protected:
    void SetUp() override {
        if (cpus_.size() < 2) GTEST_SKIP() << "one CPU";
    }

    std::vector<unsigned> cpus_ = usable_cpus();
};

/// A veth has no interrupts: the CPUs are assigned to ports in turn.
TEST_F(HashByCpu, uses_the_port_of_the_sending_cpu) {
    const Cabling wires(2, FarSide::open);
    TeamUnderTest team(team_config(by_cpu, ports_object(2)));
    bring_up(wires, team);
    EXPECT_THAT(sent_from(wires, cpus_[0], 0), ElementsAre(flows_each, 0));
    EXPECT_THAT(sent_from(wires, cpus_[1], 100), ElementsAre(0, flows_each));
    team.kill();
    EXPECT_THAT(sent_from(wires, cpus_[0], 200), ElementsAre(flows_each, 0));
    EXPECT_THAT(sent_from(wires, cpus_[1], 300), ElementsAre(0, flows_each));
    team.start();
    EXPECT_THAT(sent_from(wires, cpus_[0], 400), ElementsAre(flows_each, 0));
    EXPECT_THAT(sent_from(wires, cpus_[1], 500), ElementsAre(0, flows_each));
}

TEST_F(HashByCpu, uses_another_port_while_its_port_is_down) {
    const Cabling wires(3, FarSide::open);
    const TeamUnderTest team(team_config(by_cpu_and_mac, ports_object(3)));
    bring_up(wires, team);
    wires.pull(1);
    ASSERT_TRUE(team.await_link("eth1", false));
    const auto meanwhile = sent_from(wires, cpus_[0], 0);
    EXPECT_EQ(0U, meanwhile[0]);
    EXPECT_EQ(flows_each, meanwhile[1] + meanwhile[2]);
    EXPECT_THAT(sent_from(wires, cpus_[1], 100), ElementsAre(0, flows_each, 0)) << "must not change";
    wires.plug(1);
    ASSERT_TRUE(team.await_link("eth1"));
    await_operation(wires.host(), "eth1");
    EXPECT_THAT(sent_from(wires, cpus_[0], 200), ElementsAre(flows_each, 0, 0));
}

TEST_F(HashByCpu, follows_a_sender_after_a_pause) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(by_cpu, ports_object(2)));
    bring_up(wires, team);
    for (const unsigned which : {0U, 1U, 0U})
        EXPECT_TRUE(eventually("the flows have moved", [&] {
            std::this_thread::sleep_for(30ms); // a pause
            return sent_from(wires, cpus_[which], 0)[which] == flows_each;
        }));
}

TEST_F(HashByCpu, is_shown_to_the_administrator) {
    const Cabling wires(2, FarSide::open);
    const auto planned = daemon_on(team_config(by_cpu, ports_object(2)), {"--dry-run"}).out;
    EXPECT_THAT(planned, AllOf(HasSubstr("\"cpus\""), HasSubstr("\"interrupt_cpus\"")));
    const TeamUnderTest team(team_config(by_cpu, ports_object(2)));
    bring_up(wires, team);
    const auto shown = team.teamoctl({"balance", "show"});
    EXPECT_THAT(shown.out,
                AllOf(HasSubstr("sent by CPU"), HasSubstr("balancing: none, the sending CPU decides"),
                      Not(HasSubstr("buckets"))));
    EXPECT_THAT(team.teamoctl({"balance", "hash", "src", "10.0.0.1", "dst", "10.0.0.2"}).out,
                HasSubstr("the sending CPU decides"));
    const auto json = team.teamoctl({"balance", "show"}, {"--json"}).out;
    EXPECT_THAT(json, HasSubstr("interrupt_cpus"));
    const auto moved = team.teamoctl({"balance", "move", "7", "eth2"});
    EXPECT_EQ(1, moved.status);
    EXPECT_THAT(moved.err, HasSubstr("the sending CPU decides"));
    const auto warned = HasSubstr("with the team driver packets of a flow may be reordered");
    if (by_driver(wires))
        EXPECT_THAT(team.log(), warned);
    else
        EXPECT_THAT(team.log(), Not(warned));
}

} // namespace
} // namespace teamo::test
