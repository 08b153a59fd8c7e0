// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/cpus.h"
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

TEST_F(AffinitySettings, includes_offline_cpus_in_former_value_of_thread) {
    file("sys/devices/system/cpu/online", "0-2");
    file("sys/devices/system/cpu/possible", "0-3");
    const CpuSetting thread{.kind = Kind::thread, .number = 612}, irq{.kind = Kind::irq, .number = 24};
    EXPECT_THAT(former_cpus(thread, {0, 1, 2}, root()), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(former_cpus(thread, {0, 2}, root()), ElementsAre(0, 2)) << "it is restricted";
    EXPECT_THAT(former_cpus(irq, {0, 1, 2}, root()), ElementsAre(0, 1, 2)) << "its file shows offline CPUs";
}

class AffinityRestore : public test::Tree {
protected:
    AffinityRestore() : card_(network_device("eth0", 3, card_folder, 2, 2)) {
        vector(33, "eth0-rx-0", card_folder, "3");
        vector(34, "", card_folder, "3"); // no handler while the card is down
        vector(40, "eth7-rx-0", "pci0000:00/0000:00:09.0", "3");
    }

    void restore(const SetCpus& set) {
        const auto done = restore_cpus(card_, set, root());
        EXPECT_TRUE(done) << done.error().text;
    }
    std::string affinity(unsigned irq) const {
        return line(fmt::format("proc/irq/{}/smp_affinity_list", irq));
    }

    static constexpr const char* card_folder = "pci0000:00/0000:00:03.0";
    const Link card_;
    const SetCpuList from_all_to_3{.before = {0, 1, 2, 3}, .ours = {3}, .leaving = {}};
};

TEST_F(AffinityRestore, restores_former_value_of_ours_if_the_last_was_refused) {
    restore({{{Kind::irq, 33}, {.before = {0, 1, 2, 3}, .ours = {2}, .leaving = {3}}}});
    EXPECT_EQ("0-3", affinity(33));
}

TEST_F(AffinityRestore, restores_unchanged_setting) {
    restore({{{Kind::irq, 33}, from_all_to_3}});
    EXPECT_EQ("0-3", affinity(33));
}

TEST_F(AffinityRestore, restores_vectors_of_card_that_is_down) {
    restore({{{Kind::irq, 34}, from_all_to_3}});
    EXPECT_EQ("0-3", affinity(34));
}

TEST_F(AffinityRestore, keeps_setting_of_other_program) {
    file("proc/irq/33/smp_affinity_list", "5");
    restore({{{Kind::irq, 33}, from_all_to_3}});
    EXPECT_EQ("5", affinity(33));
}

TEST_F(AffinityRestore, skips_reused_irq_number) {
    restore({{{Kind::irq, 40}, from_all_to_3}});
    EXPECT_EQ("3", affinity(40));
    EXPECT_FALSE(read_cpu_setting(card_, {Kind::irq, 40}, root()));
    restore({{{Kind::irq, 99}, from_all_to_3}});
}

TEST_F(AffinityRestore, skips_reused_thread_id) {
    const auto number = static_cast<unsigned>(::getpid());
    file(fmt::format("proc/{}/comm", number), "bash");
    EXPECT_FALSE(read_cpu_setting(card_, {Kind::thread, number}, root()));
    file(fmt::format("proc/{}/comm", number), "napi/eth0-12");
    EXPECT_TRUE(read_cpu_setting(card_, {Kind::thread, number}, root()));
}

TEST_F(AffinityRestore, restores_queue_masks) {
    file("sys/class/net/eth0/queues/tx-1/xps_cpus", "08");
    restore({{{Kind::xps, 1}, from_all_to_3}});
    EXPECT_EQ("f", line("sys/class/net/eth0/queues/tx-1/xps_cpus"));
}

TEST_F(AffinityRestore, continues_after_unreadable_setting) {
    remove("proc/irq/33/smp_affinity_list");
    folder("proc/irq/33/smp_affinity_list"); // neither readable nor writable
    restore({{{Kind::irq, 33}, from_all_to_3}, {{Kind::irq, 34}, from_all_to_3}});
    EXPECT_EQ("0-3", affinity(34));
}

TEST_F(AffinityRestore, compares_with_affinity_hint_only_if_set) {
    EXPECT_FALSE(is_as_hinted(33, root()));
    file("proc/irq/33/affinity_hint", "00");
    EXPECT_FALSE(is_as_hinted(33, root()));
    file("proc/irq/33/affinity_hint", "08");
    EXPECT_TRUE(is_as_hinted(33, root()));
    file("proc/irq/33/affinity_hint", "04");
    EXPECT_FALSE(is_as_hinted(33, root()));
}

} // namespace
} // namespace teamo
