// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPUs of real cards' interrupts, and the port that a CPU sends by as a result.
//
// lab: *HashByCpu.* in -k 6.1 -p 2, 12 s
// lab: *HashByCpu.* in -k newest -n virtio -p 2, 12 s
#include "kernel/interrupts/port_interrupts.h"

#include "kernel/netlink/links.h"
#include "lab/far_switch.h"
#include "lab/guest.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/frames.h"
#include "support/traffic/on_cpu.h"
#include "support/traffic/packet_socket.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <rapidjson/document.h>

namespace teamo::test {
namespace {

using testing::ElementsAre;

constexpr const char* balanced_by_cpu =
    R"({"device": "team0", "runner": {"name": "loadbalance", "tx_hash": ["cpu"]},
                                   "interrupts": {"policy": "off"},
                                   "ports": {"eth0": {}, "eth1": {}}})";

/// All vectors with the name of the card, or of its virtio device.
void send_interrupts_to(const std::string& card, unsigned cpu) {
    in_guest(fmt::format("virtio=$(basename $(readlink -f /sys/class/net/{0}/device)); "
                         "for handler in /proc/irq/*/{0}-*/ /proc/irq/*/$virtio-*/; do "
                         "[ ! -d $handler ] || echo {1} > $(dirname $handler)/smp_affinity_list; done",
                         card, cpu));
}

CpuList interrupts_of(const std::string& card) {
    auto links = LinkControl::open();
    if (!links) throw SetupError(links.error().text);
    const auto all = links->read_all();
    if (!all) throw SetupError(all.error().text);
    const auto* link = find_link(*all, card);
    if (link == nullptr) throw SetupError("no " + card);
    const auto interrupts = read_port_interrupts(*link);
    if (!interrupts) throw SetupError(interrupts.error().text);
    return interrupt_cpus(*interrupts);
}

class HashByCpu : public testing::TestWithParam<const char*> {
protected:
    /// The CPUs of a port that the daemon reports, by a key of "balance".
    CpuList reported(const TeamUnderTest& team, const char* port, const char* key) const {
        rapidjson::Document document;
        document.Parse(team.teamoctl({"state", "dump"}).out.c_str());
        CpuList cpus;
        for (const auto& cpu : document["balance"]["ports"][port][key].GetArray())
            cpus.push_back(cpu.GetUint());
        return cpus;
    }

    /// Sends frames of this many flows from a CPU; returns how many each card has sent.
    std::vector<std::uint64_t> sent_from(unsigned cpu) {
        const auto host = NetNs::current();
        const auto first = counters(host, "eth0"), second = counters(host, "eth1");
        const PacketSocket team(host, "team0");
        {
            const OnCpu here(cpu);
            for (unsigned count = 0; count < flows; ++count)
                team.send(ethernet(mac("02:00:00:00:00:02") + ++flow_, mac("02:00:00:00:00:01"),
                                   ether_experiment, "from a CPU"));
        }
        const auto sent = [&] {
            return std::vector{(counters(host, "eth0") - first).tx_packets,
                               (counters(host, "eth1") - second).tx_packets};
        };
        EXPECT_TRUE(eventually("all have left", [&] { return sent()[0] + sent()[1] >= flows; }));
        return sent();
    }

    /// TX queues have interrupts of their own; virtio raises them only if a ring is nearly full.
    static void flood() {
        const PacketSocket team(NetNs::current(), "team0");
        const std::string large(1400, 'x');
        for (const unsigned cpu : {0U, 1U}) {
            const OnCpu here(cpu);
            for (std::uint32_t count = 0; count < 600; ++count)
                team.send(ethernet(mac("02:00:00:01:00:02") + count, mac("02:00:00:00:00:01"),
                                   ether_experiment, large));
        }
    }

    static constexpr unsigned flows = 64, strays = 16;
    std::uint32_t flow_ = 0;
};

TEST_P(HashByCpu, follows_interrupt_cpus) {
    const FarSwitch far(2);
    for (const auto* card : {"eth0", "eth1"}) // virtio: one queue, because a second one might be idle
        static_cast<void>(sh(NetNs::current(), fmt::format("ethtool -L {} combined 1", card)));
    TeamUnderTest team(balanced_by_cpu, {"--datapath", GetParam()});
    const auto host = NetNs::current();
    must(host, "ip addr add 10.9.0.1/24 dev team0; ip link set team0 up");
    for (const auto* card : {"eth0", "eth1"})
        ASSERT_TRUE(becomes(
            std::string("true"), [&] { return team.item(fmt::format("ports.{}.link.up", card)); }, 20s));
    ASSERT_TRUE(reaches(host, "10.9.0.2", 15s));
    // virtio's RX interrupt also completes TX, so its TX vector may be idle for long: only one move.
    const bool virtio =
        sh(host, "readlink -f /sys/class/net/eth0/device").out.find("/virtio") != std::string::npos;
    for (const unsigned of_eth0 : virtio ? std::vector{1U} : std::vector{1U, 0U}) {
        const unsigned of_eth1 = 1 - of_eth0;
        send_interrupts_to("eth0", of_eth0);
        send_interrupts_to("eth1", of_eth1);
        const auto arrived = [&] {
            flood();
            return interrupts_of("eth0") == CpuList{of_eth0} && interrupts_of("eth1") == CpuList{of_eth1};
        };
        ASSERT_TRUE(eventually("the interrupts have moved", arrived))
            << teamo::text_of(interrupts_of("eth0")) << " and " << teamo::text_of(interrupts_of("eth1"));
        ASSERT_TRUE(becomes(CpuList{of_eth0}, [&] { return reported(team, "eth0", "interrupt_cpus"); }));
        ASSERT_TRUE(becomes(CpuList{of_eth1}, [&] { return reported(team, "eth1", "interrupt_cpus"); }));
        EXPECT_THAT(reported(team, "eth0", "cpus"), testing::Contains(of_eth0));
        EXPECT_THAT(reported(team, "eth1", "cpus"), testing::Contains(of_eth1));
        const auto by_first = sent_from(of_eth0), by_second = sent_from(of_eth1);
        fmt::print("eth0's CPU is {}: from there {} and {} frames, from the other {} and {}\n", of_eth0,
                   by_first[0], by_first[1], by_second[0], by_second[1]);
        EXPECT_GE(by_first[0], flows);
        EXPECT_LT(by_first[1], strays);
        EXPECT_GE(by_second[1], flows);
        EXPECT_LT(by_second[0], strays);
    }
    fmt::print("{}", team.teamoctl({"balance", "show"}).out);
    EXPECT_EQ(0, team.stop());
}

INSTANTIATE_TEST_SUITE_P(Datapath, HashByCpu, testing::Values("team", "bpf"),
                         [](const auto& which) { return std::string(which.param); });

} // namespace
} // namespace teamo::test
