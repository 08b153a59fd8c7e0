// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/affinity_restore.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace teamo {
namespace {

using Kind = CpuSetting::Kind;

class Restored : public test::Tree {
protected:
    Restored() : card_(network_device("eth0", 3, card_folder, 2, 2)) {
        vector(33, "eth0-rx-0", card_folder, "3");
        vector(34, "", card_folder, "3"); // has no handler while the card is down
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
    const SetCpuList was_all{.before = {0, 1, 2, 3}, .ours = {3}};
};

TEST_F(Restored, are_what_is_still_as_it_was_set) {
    restore({{{Kind::irq, 33}, was_all}});
    EXPECT_EQ("0-3", affinity(33));
}

TEST_F(Restored, are_vectors_of_a_card_that_is_down) {
    restore({{{Kind::irq, 34}, was_all}});
    EXPECT_EQ("0-3", affinity(34));
}

TEST_F(Restored, is_nothing_that_somebody_else_has_set_meanwhile) {
    file("proc/irq/33/smp_affinity_list", "5");
    restore({{{Kind::irq, 33}, was_all}});
    EXPECT_EQ("5", affinity(33));
}

TEST_F(Restored, is_no_interrupt_whose_number_is_anothers_now) {
    restore({{{Kind::irq, 40}, was_all}});
    EXPECT_EQ("3", affinity(40));
    EXPECT_FALSE(read_cpu_setting(card_, {Kind::irq, 40}, root()));
    restore({{{Kind::irq, 99}, was_all}});
}

TEST_F(Restored, is_no_thread_whose_number_is_anothers_now) {
    const auto number = static_cast<unsigned>(::getpid());
    file(fmt::format("proc/{}/comm", number), "bash");
    EXPECT_FALSE(read_cpu_setting(card_, {Kind::thread, number}, root()));
    file(fmt::format("proc/{}/comm", number), "napi/eth0-12");
    EXPECT_TRUE(read_cpu_setting(card_, {Kind::thread, number}, root()));
}

TEST_F(Restored, are_the_queues_masks) {
    file("sys/class/net/eth0/queues/tx-1/xps_cpus", "08");
    restore({{{Kind::xps, 1}, was_all}});
    EXPECT_EQ("f", line("sys/class/net/eth0/queues/tx-1/xps_cpus"));
}

TEST_F(Restored, goes_on_after_what_cannot_be_read) {
    remove("proc/irq/33/smp_affinity_list");
    folder("proc/irq/33/smp_affinity_list"); // cannot be read, let alone written
    restore({{{Kind::irq, 33}, was_all}, {{Kind::irq, 34}, was_all}});
    EXPECT_EQ("0-3", affinity(34));
}

TEST_F(Restored, hints_say_something_only_where_there_is_one) {
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
