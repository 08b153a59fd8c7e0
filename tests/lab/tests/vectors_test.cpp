// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The interrupt vectors of real cards and drivers, by queue.
//
// lab: InterruptVectors.* in -k 6.1 -p 2, 10 s
// lab: InterruptVectors.* in -k 6.12 -n igb -p 2 -c 4, 30 s, long
// lab: InterruptVectors.* in -k newest -n virtio -p 2, 10 s
#include "kernel/ethtool/queue_statistics.h"
#include "kernel/interrupts/affinity_settings.h"
#include "kernel/interrupts/port_interrupts.h"
#include "kernel/interrupts/vector_groups.h"
#include "kernel/netlink/links.h"
#include "lab/guest.h"
#include "lab/lab.h"
#include "support/daemon/process.h"
#include "support/eventually.h"
#include "support/net/net_ns.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class InterruptVectors : public testing::Test {
protected:
    InterruptVectors() : family_(family()), virtio_(is_virtio()) { set_up(true); }
    ~InterruptVectors() override {
        must(host_, "echo 0 > /sys/class/net/eth0/threaded; ip link set eth0 down");
    }

    static NetdevFamily family() {
        auto opened = NetdevFamily::open();
        if (!opened) throw SetupError(opened.error().text);
        return std::move(*opened);
    }
    bool is_virtio() const {
        return sh(host_, "readlink -f /sys/class/net/eth0/device").out.find("/virtio") != std::string::npos;
    }
    void set_up(bool up) const { must(host_, fmt::format("ip link set eth0 {}", up ? "up" : "down")); }

    static Link link() {
        auto links = LinkControl::open();
        if (!links) throw SetupError(links.error().text);
        const auto all = links->read_all();
        if (!all) throw SetupError(all.error().text);
        const auto* found = find_link(*all, "eth0");
        if (found == nullptr) throw SetupError("no eth0");
        return *found;
    }
    NetdevQueues netdev_queues() {
        auto queues = family_.read(link().index);
        if (!queues) throw SetupError(queues.error().text);
        return *queues;
    }
    PortInterrupts read() {
        auto port = read_port_interrupts(link(), netdev_queues());
        if (!port) throw SetupError(port.error().text);
        return *port;
    }
    static void print(const PortInterrupts& port) {
        for (const auto& queue : port.queues)
            for (const auto& vector : queue.vectors)
                fmt::print("queue {}: {} {} at CPU {} of {}, {} times{}\n", queue.queue, vector.irq,
                           vector.name, teamo::text_of(vector.effective), teamo::text_of(vector.affinity),
                           vector.count, queue.thread ? fmt::format(", thread {}", queue.thread->pid) : "");
        for (const auto& vector : port.others)
            fmt::print("other: {} {} of {}\n", vector.irq, vector.name, teamo::text_of(vector.affinity));
    }

    const NetNs host_ = NetNs::current();
    NetdevFamily family_;
    const bool virtio_;
};

TEST_F(InterruptVectors, finds_one_group_for_each_queue) {
    const auto port = read();
    print(port);
    const auto reported = netdev_queues();
    fmt::print("the netdev family reports {} queues and {} NAPIs\n", reported.queues.size(),
               reported.napis.size());
    ASSERT_GE(port.receive_queues, 1);
    ASSERT_EQ(port.queues.size(), port.receive_queues);
    for (unsigned queue = 0; queue < port.queues.size(); ++queue) {
        EXPECT_EQ(port.queues[queue].queue, queue);
        EXPECT_TRUE(std::ranges::all_of(port.queues[queue].vectors, &IrqVector::movable));
    }
    EXPECT_THAT(port.others, testing::Not(IsEmpty())) << "the vector for link or configuration changes";
    const bool has_irqs =
        std::ranges::any_of(reported.napis, [](const NetdevNapi& napi) { return napi.irq.has_value(); });
    EXPECT_EQ(port.source, has_irqs && !reported.queues.empty() ? VectorSource::netdev : VectorSource::names);
}

TEST_F(InterruptVectors, reads_the_netdev_family) {
    EXPECT_EQ(family_.is_there(), is_at_least(6, 3));
    EXPECT_EQ(!netdev_queues().napis.empty(), is_at_least(6, 8));
    set_up(false);
    EXPECT_THAT(netdev_queues().napis, IsEmpty());
}

TEST_F(InterruptVectors, finds_none_while_the_card_is_down) {
    if (virtio_) GTEST_SKIP() << "virtio requests them when the driver binds";
    auto port = read();
    set_up(false);
    EXPECT_THAT(refresh(port).error().number, testing::AnyOf(ENOENT, ESTALE));
    const auto down = read();
    print(down);
    EXPECT_EQ(down.source, VectorSource::none);
    EXPECT_THAT(down.queues, IsEmpty());
    EXPECT_THAT(down.others, IsEmpty());
}

TEST_F(InterruptVectors, moves_to_the_given_cpu) {
    auto port = read();
    const auto before = read_cpu_settings(port);
    for (const auto& [setting, cpus] : before)
        if (setting.kind == CpuSetting::Kind::irq) {
            const auto written = write_cpu_setting("eth0", setting, {1});
            EXPECT_TRUE(written) << written.error().text;
        }
    ASSERT_TRUE(refresh(port));
    for (const auto& queue : port.queues)
        for (const auto& vector : queue.vectors)
            EXPECT_THAT(vector.affinity, ElementsAre(1)) << vector.name;
    for (const auto& [setting, cpus] : before)
        EXPECT_TRUE(write_cpu_setting("eth0", setting, cpus)) << text_of(setting);
    EXPECT_EQ(read_cpu_settings(read()), before);
}

TEST_F(InterruptVectors, refuses_a_missing_cpu) {
    const auto irq = read().queues.at(0).vectors.at(0).irq;
    const auto refused = write_cpu_setting("eth0", {.kind = CpuSetting::Kind::irq, .number = irq}, {700});
    ASSERT_FALSE(refused);
    fmt::print("{}\n", refused.error().text);
    EXPECT_THAT(refused.error().number, testing::AnyOf(ERANGE, EINVAL, EOVERFLOW));
}

TEST_F(InterruptVectors, finds_one_thread_for_each_queue) {
    must(host_, "echo 1 > /sys/class/net/eth0/threaded");
    const auto port = read();
    print(port);
    for (const auto& [setting, cpus] : read_cpu_settings(port))
        if (setting.kind == CpuSetting::Kind::thread) {
            const auto written = write_cpu_setting("eth0", setting, {1});
            EXPECT_TRUE(written) << written.error().text;
        }
    const bool apart = must(host_, "ls -d /proc/irq/*/eth0-tx-1 2>/dev/null || true").starts_with("/proc");
    for (const auto& queue : read().queues) {
        ASSERT_TRUE(queue.thread) << queue.queue;
        EXPECT_THAT(queue.thread->affinity, ElementsAre(1));
        EXPECT_EQ(queue.second_thread.has_value(), apart) << "igb with separate RX and TX vectors";
    }
}

/// The same vectors as shown by a driver without names for queues.
PortInterrupts without_names(const PortInterrupts& port) {
    auto vectors = vectors_of(port);
    for (auto& vector : vectors)
        vector.name.clear();
    PortInterrupts nameless = port;
    group_vectors(nameless, std::move(vectors), {}, {});
    return nameless;
}

/// The learned vector of each queue is one of the queue's vectors by name: its RX vector.
void expect_queues_of(const PortInterrupts& named, const PortInterrupts& port) {
    EXPECT_EQ(VectorSource::counts, port.source);
    ASSERT_EQ(named.queues.size(), port.queues.size());
    for (std::size_t queue = 0; queue < named.queues.size(); ++queue) {
        ASSERT_EQ(1, port.queues[queue].vectors.size());
        const auto irq = port.queues[queue].vectors[0].irq;
        EXPECT_THAT(named.queues[queue].vectors, testing::Contains(testing::Field(&IrqVector::irq, irq)))
            << queue;
    }
}

// Sends datagrams to many addresses of the card; it assigns each address to one queue. Few are answered.
TEST_F(InterruptVectors, learns_queues_from_counts) {
    const auto named = read();
    if (virtio_ || named.receive_queues < 2)
        GTEST_SKIP() << "needs a card with queues that hashes by address";
    // The card's hash is linear and its key random: if addresses differ only in the last six bits, one boot
    // in twenty misses queues.
    must(host_, "for last in $(seq 2 60); do ip addr add 10.9.$((37 * last % 256)).$last/16 dev eth0; done");
    Lab::must_peer("ip addr add 10.9.0.1/16 dev tap0");
    auto port = without_names(named);
    ASSERT_EQ(VectorSource::ungrouped, port.source);
    QueueVectorLearner learner;
    QueueVectorLearner::Time clock{}; // simulated, so that the test does not wait for the next window
    const auto count = [&] {
        EXPECT_TRUE(learner.wants_sample(port, clock));
        return learner.learn(port, read_interrupt_sample(port, "eth0"), clock);
    };
    learner.apply(port);
    bool learned = false;
    for (unsigned last = 2; last <= 60 && !learned; ++last) {
        clock += 10min;
        EXPECT_FALSE(count());
        // Pauses with `read -t`: starting a process for each pause would take longer than the pause.
        Lab::must_peer(
            fmt::format("bash -c 'exec 3<>/dev/udp/10.9.{}.{}/9 4<> <(:); for count in {{1..150}}; do "
                        "printf x >&3 2>/dev/null; read -t 0.005 -u 4; done; true'",
                        37 * last % 256, last));
        ASSERT_TRUE(refresh(port));
        clock += 3s;
        learned = count();
    }
    must(host_, "ip addr flush dev eth0");
    print(port);
    ASSERT_TRUE(learned);
    expect_queues_of(named, port);
    // The learned queues are kept when the port is read again.
    auto again = without_names(read());
    learner.apply(again);
    expect_queues_of(named, again);
}

TEST_F(InterruptVectors, writes_and_reads_xps_and_rps) {
    const auto port = read();
    for (const auto kind : {CpuSetting::Kind::xps, CpuSetting::Kind::rps}) {
        const auto& masks = kind == CpuSetting::Kind::xps ? port.xps : port.rps;
        if (masks.empty()) continue;
        const CpuSetting setting{.kind = kind, .number = 0};
        const auto written = write_cpu_setting("eth0", setting, {1});
        EXPECT_TRUE(written) << written.error().text;
        EXPECT_EQ(read_cpu_settings(read()).at(setting), CpuList{1});
        EXPECT_TRUE(write_cpu_setting("eth0", setting, masks[0]));
    }
    EXPECT_EQ(port.xps.empty(), port.transmit_queues == 1);
}

} // namespace
} // namespace teamo::test
