// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The transmit program sees by itself which ports have a link.
#include "addresses.h"
#include "programs.h"

#include "kernel/netlink/links.h"
#include "support/net/links.h"
#include "support/net/net_ns.h"
#include "support/traffic/packet.h"

#include <bpf/btf.h>
#include <gmock/gmock.h>

#include <memory>
#include <set>

namespace teamo::test {
namespace {

using testing::UnorderedElementsAre;

/// Whether the kernel has a function that BPF programs may call.
bool kernel_has(const char* function) {
    const std::unique_ptr<btf, void (*)(btf*)> kernel(btf__load_vmlinux_btf(), btf__free);
    return kernel && btf__find_by_name_kind(kernel.get(), function, BTF_KIND_FUNC) > 0;
}

/// Slots 1 to 3 are veth devices with a link; slots 4 to 8 do not transmit.
class LinkSight : public testing::TestWithParam<teamo_link_reading> {
protected:
    void SetUp() override {
        for (unsigned slot = 1; slot <= 3; ++slot)
            here_.ip(fmt::format("link add dev port{0} index 100{0} type veth peer name wire{0} netns {1}\n"
                                 "link set port{0} up",
                                 slot, there_.path()));
        for (unsigned slot = 1; slot <= 3; ++slot)
            plug(slot);
        if (GetParam() == TEAMO_LINKS_READ && !kernel_has("bpf_rdonly_cast"))
            GTEST_SKIP() << "this kernel has no bpf_rdonly_cast()";
        programs_.emplace(GetParam());
        programs_->live.tx = slot_set({1, 2, 3});
        programs_->team.hash_fields = TEAMO_HASH_IPV4 | TEAMO_HASH_TCP;
        here_.inside([this] {
            for (unsigned slot = 1; slot <= 3; ++slot)
                programs_->learn_device(slot);
        });
    }

    /// A link that has come back counts when linkwatch, a worker of the kernel, has seen it.
    void plug(unsigned slot) {
        there_.ip(fmt::format("link set wire{} up", slot));
        await_operation(here_, fmt::format("port{}", slot));
    }
    void unplug(std::initializer_list<unsigned> slots) {
        for (const auto slot : slots)
            there_.ip(fmt::format("link set wire{} down", slot));
    }

    /// The slots that packets of 24 flows leave by.
    std::set<std::uint32_t> used_slots() {
        std::set<std::uint32_t> used;
        for (std::uint16_t flow = 0; flow < 24; ++flow)
            used.insert(programs_
                            ->transmit(PacketBuilder(peer, own)
                                           .ipv4({})
                                           .tcp(static_cast<std::uint16_t>(flow * 1021), 2)
                                           .payload(10)
                                           .bytes())
                            .slot);
        return used;
    }

    NetNs here_ = NetNs::create(), there_ = NetNs::create();
    std::optional<Programs> programs_;
};

TEST_P(LinkSight, avoids_slot_that_lost_its_link) {
    for (const auto fields : {TEAMO_HASH_IPV4 | TEAMO_HASH_TCP, TEAMO_HASH_CPU | TEAMO_HASH_TCP}) {
        programs_->team.hash_fields = fields;
        for (unsigned cpu = 0; cpu < 64; ++cpu)
            programs_->set_cpu_slot(cpu, 2);
        unplug({2});
        EXPECT_THAT(used_slots(), UnorderedElementsAre(1, 3));
        plug(2);
        EXPECT_THAT(used_slots(), testing::Contains(2));
    }
}

TEST_P(LinkSight, roundrobin_and_random_use_linked_slots_evenly) {
    programs_->team.mode = TEAMO_MODE_ROUNDROBIN;
    unplug({2});
    std::map<std::uint32_t, int> packets;
    for (int packet = 0; packet < 24; ++packet)
        ++packets[programs_->transmit(PacketBuilder(peer, own).payload(10).bytes()).slot];
    EXPECT_THAT(packets, UnorderedElementsAre(testing::Pair(1, 12), testing::Pair(3, 12)));
    programs_->team.mode = TEAMO_MODE_RANDOM;
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1, 3));
}

TEST_P(LinkSight, broadcast_copies_go_to_linked_slots) {
    programs_->team.mode = TEAMO_MODE_BROADCAST;
    unplug({1});
    // A test run sends no copies: they count as dropped (slot 0). The packet itself leaves by the last slot.
    const auto verdict = programs_->transmit(PacketBuilder(peer, own).payload(10).bytes());
    EXPECT_EQ(verdict.slots & slot_set({1}), 0U);
    EXPECT_EQ(verdict.slot, 3U);
}

TEST_P(LinkSight, first_choice_stays_if_no_slot_has_a_link) {
    programs_->live.tx = slot_set({1});
    unplug({1, 2, 3});
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1));
}

/// Another device may have its index.
TEST_P(LinkSight, first_choice_drops_if_its_device_is_gone) {
    programs_->live.tx = slot_set({1});
    unplug({2, 3});
    here_.ip("link set port1 netns " + there_.path());
    EXPECT_THAT(used_slots(), UnorderedElementsAre(0));
}

TEST_P(LinkSight, standby_slot_takes_over_and_receives) {
    programs_->live = {.tx = slot_set({1}), .rx = slot_set({1}), .standby = 0x0203}; // 3, then 2
    const auto received = [this](unsigned slot) {
        return here_.inside([this, slot] {
            return programs_->receive(PacketBuilder(own, peer).payload(10).bytes(), 1000 + slot).action;
        });
    };
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1));
    EXPECT_EQ(received(3), dropped);
    unplug({1});
    EXPECT_THAT(used_slots(), UnorderedElementsAre(3));
    EXPECT_EQ(received(3), redirected);
    EXPECT_EQ(received(2), dropped);
    unplug({3});
    EXPECT_THAT(used_slots(), UnorderedElementsAre(2));
    EXPECT_EQ(received(2), redirected);
    plug(1);
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1));
    EXPECT_EQ(received(2), dropped);
}

TEST_P(LinkSight, waiting_slot_stays_out_after_its_link_returns) {
    const auto losses = static_cast<std::uint32_t>(
        here_.inside([] { return LinkControl::open()->read(IfIndex{1002})->carrier_losses; }));
    programs_->set_losses(2, losses);
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1, 2, 3));
    unplug({2});
    plug(2);
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1, 3));
    programs_->set_losses(2, losses + 1);
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1, 2, 3));
}

TEST_P(LinkSight, only_the_slot_that_stands_in_receives) {
    programs_->live = {.tx = slot_set({1}), .rx = slot_set({1}), .standby = 0x02};
    const auto received = [this](unsigned slot) {
        return here_.inside([this, slot] {
            return programs_->receive(PacketBuilder(own, peer).payload(10).bytes(), 1000 + slot).action;
        });
    };
    programs_->set_losses(1, 77); // slot 1 waits, with a link
    EXPECT_THAT(used_slots(), UnorderedElementsAre(2));
    EXPECT_EQ(received(2), redirected);
    EXPECT_EQ(received(1), dropped) << "the switch floods to both";
}

TEST_P(LinkSight, waiting_slot_is_the_last_resort) {
    programs_->live.tx = slot_set({1, 2});
    programs_->set_losses(1, 77);
    EXPECT_THAT(used_slots(), UnorderedElementsAre(2));
    unplug({2});
    EXPECT_THAT(used_slots(), UnorderedElementsAre(1));
}

TEST_P(LinkSight, broadcast_uses_standby_slot_without_linked_slots) {
    programs_->team.mode = TEAMO_MODE_BROADCAST;
    programs_->live = {.tx = slot_set({1, 2}), .rx = all_slots, .standby = 0x03};
    unplug({1, 2});
    EXPECT_EQ(programs_->transmit(PacketBuilder(peer, own).payload(10).bytes()).slots, slot_set({3}));
}

TEST_P(LinkSight, deleted_or_moved_device_is_avoided) {
    here_.ip(fmt::format("link set port1 netns {}", there_.path()));
    there_.ip("link set port1 up");
    here_.ip("link del port2");
    EXPECT_THAT(used_slots(), testing::ElementsAre(3));
}

/// Sooner or later the kernel keeps one of them where it kept the port that is gone.
TEST_P(LinkSight, other_devices_in_its_memory_are_avoided) {
    here_.ip("link del port2");
    std::string others, none;
    for (int pair = 0; pair < 40; ++pair) {
        others +=
            fmt::format("link add a{0} {1} type veth peer name b{0}\nlink set a{0} up\nlink set b{0} up\n",
                        pair, pair == 0 ? "index 1002" : "");
        none += fmt::format("link del a{}\n", pair);
    }
    for (int round = 0; round < 4; ++round) {
        here_.ip(others);
        await_operation(here_, "b39");
        EXPECT_THAT(used_slots(), UnorderedElementsAre(1, 3));
        here_.ip(none);
    }
}

INSTANTIATE_TEST_SUITE_P(Reading, LinkSight, testing::Values(TEAMO_LINKS_PROBED, TEAMO_LINKS_READ),
                         [](const auto& one) { return one.param == TEAMO_LINKS_PROBED ? "probed" : "read"; });

} // namespace
} // namespace teamo::test
