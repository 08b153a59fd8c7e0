// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/affinity_restore.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace teamo {
namespace {

using Kind = CpuSetting::Kind;

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
    const SetCpuList from_all_to_3{.before = {0, 1, 2, 3}, .ours = {3}};
};

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
