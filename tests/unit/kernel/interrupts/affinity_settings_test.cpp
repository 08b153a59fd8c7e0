// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/thread_affinity.h"
#include "kernel/interrupts/affinity_settings.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Kind = CpuSetting::Kind;

IrqVector vector_of(unsigned irq, CpuList affinity, bool movable = true) {
    IrqVector vector;
    vector.irq = irq;
    vector.affinity = std::move(affinity);
    vector.movable = movable;
    return vector;
}

class AffinitySettings : public test::Tree {
protected:
    Result<> write(Kind kind, unsigned number, const CpuList& cpus) {
        return write_cpu_setting("eth0", {.kind = kind, .number = number}, cpus, root());
    }
};

TEST_F(AffinitySettings, lists_settings_of_port) {
    PortInterrupts port;
    port.queues = {{.queue = 0,
                    .vectors = {vector_of(24, {1}), vector_of(25, {2}, false)},
                    .thread = NapiThread{.pid = 612, .affinity = {0, 1}},
                    .second_thread = NapiThread{.pid = 613, .affinity = {1}}}};
    port.others = {vector_of(26, {0})};
    port.xps = {{1}, {}};
    port.rps = {{}};
    EXPECT_THAT(read_cpu_settings(port),
                ElementsAre(Pair(CpuSetting{.kind = Kind::irq, .number = 24}, CpuList{1}),
                            Pair(CpuSetting{.kind = Kind::irq, .number = 26}, CpuList{0}),
                            Pair(CpuSetting{.kind = Kind::thread, .number = 612}, CpuList{0, 1}),
                            Pair(CpuSetting{.kind = Kind::thread, .number = 613}, CpuList{1}),
                            Pair(CpuSetting{.kind = Kind::xps, .number = 0}, CpuList{1}),
                            Pair(CpuSetting{.kind = Kind::xps, .number = 1}, CpuList{}),
                            Pair(CpuSetting{.kind = Kind::rps, .number = 0}, CpuList{})));
}

TEST_F(AffinitySettings, writes_list_for_interrupt) {
    file("proc/irq/24/smp_affinity_list", "0-7");
    ASSERT_TRUE(write(Kind::irq, 24, {3, 4, 6}));
    EXPECT_EQ(line("proc/irq/24/smp_affinity_list"), "3-4,6");
}

TEST_F(AffinitySettings, writes_mask_for_queue) {
    file("sys/class/net/eth0/queues/tx-1/xps_cpus", "0");
    file("sys/class/net/eth0/queues/rx-2/rps_cpus", "ff");
    ASSERT_TRUE(write(Kind::xps, 1, {0, 33}));
    EXPECT_EQ(line("sys/class/net/eth0/queues/tx-1/xps_cpus"), "2,00000001");
    ASSERT_TRUE(write(Kind::rps, 2, {}));
    EXPECT_EQ(line("sys/class/net/eth0/queues/rx-2/rps_cpus"), "0");
}

TEST_F(AffinitySettings, sets_affinity_of_thread) {
    const auto before = read_thread_affinity(::getpid());
    ASSERT_TRUE(before && !before->empty());
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    const auto last = before->back();
    EXPECT_TRUE(write(Kind::thread, static_cast<unsigned>(child), {last}));
    EXPECT_THAT(*read_thread_affinity(child), ElementsAre(last));
    EXPECT_EQ(*read_thread_affinity(::getpid()), *before);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

TEST_F(AffinitySettings, reports_missing_interrupt_thread_and_queue) {
    const auto irq = write(Kind::irq, 24, {1});
    EXPECT_EQ(irq.error().number, ENOENT);
    EXPECT_EQ(irq.error().text,
              "interrupt 24 no longer exists (/proc/irq/24/smp_affinity_list: No such file or directory)");
    EXPECT_EQ(write(Kind::thread, 0x3fffffff, {0}).error().number, ESRCH);
    const auto queue = write(Kind::xps, 0, {0});
    EXPECT_EQ(queue.error().number, ENOENT);
    EXPECT_THAT(queue.error().text, HasSubstr("eth0: transmit queue 0 has no CPU setting"));
}

TEST_F(AffinitySettings, passes_on_kernel_error_for_empty_list) {
    const auto refused = write(Kind::thread, static_cast<unsigned>(::getpid()), {});
    EXPECT_EQ(refused.error().number, EINVAL);
    EXPECT_THAT(refused.error().text, HasSubstr("Invalid argument"));
}

TEST_F(AffinitySettings, explains_kernel_errors) {
    const CpuSetting irq{.kind = Kind::irq, .number = 24}, xps{.kind = Kind::xps, .number = 3};
    for (const int number : {EIO, EPERM})
        EXPECT_EQ(meaning_of(number, "eth0", irq, {1}),
                  "the kernel manages the affinity of interrupt 24 itself");
    EXPECT_THAT(meaning_of(ENOSPC, "eth0", irq, {1}), HasSubstr("CPU 1 has no free interrupt vector"));
    EXPECT_THAT(meaning_of(EBUSY, "eth0", irq, {1}), HasSubstr("still moving"));
    EXPECT_THAT(meaning_of(EINVAL, "eth0", irq, {7}), HasSubstr("no CPU of \"7\" is online"));
    EXPECT_THAT(meaning_of(ERANGE, "eth0", irq, {700}), HasSubstr("has no CPU 700"));
    EXPECT_EQ(meaning_of(EINVAL, "eth0", {.kind = Kind::rps, .number = 1}, {6, 7}),
              "eth0: receive queue 1: all CPUs of \"6-7\" are isolated");
    EXPECT_EQ(meaning_of(EPERM, "eth0", xps, {1}), "eth0: transmit queue 3: CAP_NET_ADMIN is missing");
    EXPECT_THAT(meaning_of(EPERM, "eth0", {.kind = Kind::thread, .number = 9}, {1}),
                HasSubstr("CAP_SYS_NICE"));
}

} // namespace
} // namespace teamo
