// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which aggregator carries: the policies of teamd.conf(5).
#include "system_fixture.h"

namespace teamo::lacp {
namespace {

using testing::ElementsAre;

struct Policies : SystemTest {
    /// Port 1 has partner 2, of 10 Gbit/s; ports 2 and 3 have partner 3, of 1 Gbit/s each.
    std::vector<IfIndex> with_policy(AggSelectPolicy policy, std::uint16_t port_priority = 255) {
        settings_.policy = policy;
        plug(1, 10'000);
        plug(2);
        plug(3);
        hear(1);
        hear(2, {.system = 3, .port_priority = port_priority});
        hear(3, {.system = 3, .port_priority = port_priority});
        advance(2s);
        hear(1);
        hear(2, {.system = 3, .port_priority = port_priority});
        hear(3, {.system = 3, .port_priority = port_priority});
        return distributing_ports();
    }
};

// The partner's system has the better priority (32768 < 65535), so its port identifiers decide.
TEST_F(Policies, lacp_prio_takes_the_best_port) {
    EXPECT_THAT(with_policy(AggSelectPolicy::lacp_prio), ElementsAre(port(1)));
}
TEST_F(Policies, bandwidth_takes_the_fastest) {
    EXPECT_THAT(with_policy(AggSelectPolicy::bandwidth), ElementsAre(port(1)));
}
TEST_F(Policies, count_takes_the_most_ports) {
    EXPECT_THAT(with_policy(AggSelectPolicy::count), ElementsAre(port(2), port(3)));
}
TEST_F(Policies, port_config_takes_the_preferred_port_unless_one_sticks) {
    settings_.policy = AggSelectPolicy::port_config;
    plug(1);
    plug(2);
    link(1).sticky = true;
    update();
    hear(1);
    hear(2, {.system = 3});
    ASSERT_THAT(distributing_ports(), ElementsAre(port(1)));
    link(2).preference = 10;
    update();
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
    link(1).sticky = false;
    update();
    EXPECT_THAT(distributing_ports(), ElementsAre(port(2)));
}
TEST_F(Policies, lacp_prio_stable_stays) {
    for (const auto policy : {AggSelectPolicy::lacp_prio, AggSelectPolicy::lacp_prio_stable}) {
        settings_.policy = policy;
        System system(settings_);
        const Link one{.port = port(1), .number = 1, .up = true, .speed = 1000, .duplex = Duplex::full},
            two{.port = port(2), .number = 2, .up = true, .speed = 1000, .duplex = Duplex::full};
        const auto tell = [&](const Link& link, std::uint16_t priority) {
            const auto actor = system.status(link.port, now).actor;
            const Lacpdu pdu{.actor = with({.system = {priority, {{2, 0, 0, 0, 0, 9}}}, .key = link.number},
                                           {activity, timeout, aggregation, synchronization, collecting}),
                             .partner = actor};
            system.receive(link.port, build_frame(pdu, {}), now);
            system.step(now);
        };
        system.update(std::array{one}, now);
        tell(one, 200);
        system.update(std::array{one, two}, now);
        tell(two, 100); // the better one
        EXPECT_THAT(system.carrying().distributing,
                    ElementsAre(policy == AggSelectPolicy::lacp_prio ? port(2) : port(1)));
    }
}
TEST_F(Policies, lacp_prio_stable_stays_with_another_rate) {
    settings_.policy = AggSelectPolicy::lacp_prio_stable;
    plug(1);
    hear(1, {.system = 2, .priority = 200});
    plug(2);
    hear(2, {.system = 3, .priority = 100}); // the better one
    ASSERT_THAT(distributing_ports(), ElementsAre(port(1)));
    settings_.fast_rate = false;
    system().change(settings_);
    update();
    EXPECT_THAT(distributing_ports(), ElementsAre(port(1)));
    EXPECT_FALSE(last_[1].actor.is(timeout)) << "the partner hears of it at once";
}

TEST_F(Policies, hand_chooses_an_aggregator) {
    with_policy(AggSelectPolicy::lacp_prio);
    EXPECT_TRUE(system().choose(port(3)));
    system().step(now);
    EXPECT_THAT(distributing_ports(), ElementsAre(port(2), port(3)));
    EXPECT_FALSE(system().choose(port(9)));
    EXPECT_TRUE(system().memory(port(3)).by_hand);
    EXPECT_FALSE(system().memory(port(1)).by_hand);
    System next(settings_);
    for (const unsigned number : {1U, 2U, 3U})
        next.restore(port(number), system().memory(port(number)));
    next.update(links_, now);
    next.step(now);
    EXPECT_THAT(next.carrying().distributing, ElementsAre(port(2), port(3)));
}

} // namespace
} // namespace teamo::lacp
