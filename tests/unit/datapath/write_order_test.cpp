// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/write_order.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using enum TableWrite;
using testing::ElementsAre;
using testing::IsEmpty;

Tables two_ports() {
    Tables tables;
    tables.ports[1] = IfIndex{11};
    tables.ports[2] = IfIndex{12};
    tables.transmit = tables.receive = bit(Slot{1}) | bit(Slot{2});
    tables.buckets[7] = {Slot{1}, Slot{2}};
    return tables;
}

TEST(WriteOrder, of_equal_tables_is_empty) { EXPECT_THAT(write_order(two_ports(), two_ports()), IsEmpty()); }

TEST(WriteOrder, of_a_lost_port_is_one_write) {
    auto next = two_ports();
    next.transmit = next.receive = bit(Slot{2});
    EXPECT_THAT(write_order(two_ports(), next), ElementsAre(stop));
}

TEST(WriteOrder, stops_a_lost_port_before_anything_else_changes) {
    auto next = two_ports();
    next.transmit = next.receive = bit(Slot{2});
    next.drain[2] = std::chrono::milliseconds(3);
    next.buckets[7] = {Slot{2}, Slot{1}};
    next.leaving[9] = Slot{2};
    next.cpu_slots = {Slot{2}};
    EXPECT_THAT(write_order(two_ports(), next), ElementsAre(stop, drains, cpu_slots, buckets));
}

TEST(WriteOrder, starts_a_port_when_all_else_is_written) {
    auto next = two_ports();
    next.ports[3] = IfIndex{13};
    next.transmit |= bit(Slot{3});
    next.receive |= bit(Slot{3});
    next.buckets[7] = {Slot{3}, Slot{1}};
    EXPECT_THAT(write_order(two_ports(), next), ElementsAre(team, devices, buckets, start));
}

TEST(WriteOrder, stops_a_slot_while_it_gets_another_device) {
    auto next = two_ports();
    next.ports[1] = IfIndex{21};
    EXPECT_THAT(write_order(two_ports(), next), ElementsAre(stop, team, devices, start));
    EXPECT_EQ(staying_live(two_ports(), next),
              (LiveSlots{.transmit = bit(Slot{2}), .receive = bit(Slot{2}), .standby = {}}));
}

TEST(WriteOrder, of_one_port_for_another_is_one_write) {
    auto now = two_ports(), next = two_ports();
    now.transmit = bit(Slot{1});
    next.transmit = bit(Slot{2});
    EXPECT_THAT(write_order(now, next), ElementsAre(start));
}

TEST(WriteOrder, of_a_backup_that_takes_over_is_one_write) {
    auto now = two_ports(), next = two_ports();
    now.transmit = now.receive = bit(Slot{1});
    now.standby = {Slot{2}};
    next.transmit = next.receive = bit(Slot{2});
    EXPECT_THAT(write_order(now, next), ElementsAre(start));
    now.waits = next.waits = bit(Slot{1});
    next.carrier_losses[1] = 4;
    EXPECT_THAT(write_order(now, next), ElementsAre(start, devices));
}

TEST(WriteOrder, keeps_a_slot_live_while_a_backup_takes_over) {
    auto now = two_ports(), next = two_ports();
    now.transmit = now.receive = bit(Slot{1});
    now.standby = {Slot{2}};
    next.transmit = next.receive = bit(Slot{2});
    next.settings[1].user_linkup = false; // of the team driver
    EXPECT_THAT(write_order(now, next), ElementsAre(start));
    next.drain[2] = std::chrono::milliseconds(3);
    EXPECT_THAT(write_order(now, next), ElementsAre(stop, drains, start));
    next.receive = bit(Slot{1}) | bit(Slot{2}); // until the switches have learned
    EXPECT_EQ(staying_live(now, next),
              (LiveSlots{.transmit = 0, .receive = next.receive, .standby = {Slot{2}}}));
}

TEST(WriteOrder, removes_standby_slot_before_it_gets_another_device) {
    auto now = two_ports();
    now.transmit = now.receive = bit(Slot{1});
    now.standby = {Slot{3}, Slot{2}};
    auto next = now;
    next.ports[3] = IfIndex{31};
    EXPECT_THAT(write_order(now, next), ElementsAre(stop, team, devices, start));
    EXPECT_EQ(staying_live(now, next).standby, (Preference{Slot{2}}));
}

TEST(WriteOrder, lets_waiting_slot_carry_after_its_count) {
    auto now = two_ports(), next = two_ports();
    now.waits = next.waits = bit(Slot{1});
    now.transmit = bit(Slot{2});
    next.carrier_losses[1] = 4;
    EXPECT_THAT(write_order(now, next), ElementsAre(devices, start));
}

TEST(WriteOrder, of_a_first_time_or_after_a_failure_writes_everything) {
    EXPECT_THAT(write_order(Tables{}, two_ports()),
                ElementsAre(drains, team, devices, cpu_slots, buckets, start));
}

} // namespace
} // namespace teamo
