// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state_tables.h"
#include "json/fields.h"

#include "text/numbers.h"
#include "unit/ctl/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(BalanceTables, show_loads_and_the_last_moves) {
    auto state = good_team(2);
    auto& balance = *state.balance;
    balance.config.on = true;
    state.link_sight.sees = true;
    balance.ports[0] = {.name = "eth1",
                        .bytes = 62.5e6,
                        .packets = 1000,
                        .bulk = 12.5e6,
                        .rate = 62.5e6,
                        .planned = 50e6,
                        .capacity = 125e6,
                        .segments = true,
                        .cpu_load = 0.31,
                        .interrupt_cpus = {0, 3}};
    balance.ports[1].rate = 0;
    balance.ports[1].segments = false;
    balance.moves = {{.bucket = 7,
                      .from = "eth1",
                      .to = "eth2",
                      .gain = 0.125,
                      .reason = MoveReason::offload,
                      .end = MoveEnd::in_gap,
                      .waited = 12ms,
                      .ago = 4s}};
    EXPECT_EQ(balance_text(state),
              "port  link        speed  transmits  buckets        load  of speed     "
              "planned    bulk  TSO      IRQ CPU\n"
              "eth1    up  1000 Mbit/s        yes       64  500 Mbit/s    50.0 %  400 "
              "Mbit/s  20.0 %   on  0,3 at 31 %\n"
              "eth2    up  1000 Mbit/s        yes       64    0 Mbit/s     0.0 %        "
              "   -       -  off            -\n"
              "balancing: on, every 5.0 s, by loads, offloads and interrupt CPUs\n"
              "after a lost link: the datapath uses another port at once, also while no daemon runs\n"
              "last moves:\n"
              "bucket  from    to      why    gain     ended  waited    ago\n"
              "7       eth1  eth2  offload  12.5 %  in a gap   12 ms  4.0 s\n");
}

TEST(BalanceTables, show_the_sending_cpus_with_a_hash_by_cpu) {
    auto state = good_team(2);
    state.balance->tx_hash = HashFields{} | HashField::cpu;
    state.balance->ports[0].cpus = {0, 1, 2, 5};
    const auto text = balance_text(state);
    EXPECT_THAT(text, HasSubstr("sent by CPU"));
    EXPECT_THAT(text, HasSubstr("0-2,5"));
    EXPECT_THAT(text, HasSubstr("balancing: none, the sending CPU decides"));
    EXPECT_THAT(text, Not(HasSubstr("buckets")));
}

TEST(BalanceTables, show_what_is_off_and_not_measured) {
    auto state = good_team(2);
    state.balance->counted = false;
    state.balance->frozen = true;
    const auto text = balance_text(state);
    EXPECT_THAT(text, HasSubstr("balancing: off (runner.tx_balancer is not configured); frozen"));
    EXPECT_THAT(text, HasSubstr("bulk is not known"));
    EXPECT_THAT(text, Not(HasSubstr("last moves")));
    EXPECT_THAT(text, Not(HasSubstr(" 0 Mbit/s")));
}

TEST(BalanceTables, have_buckets_only_for_runners_with_buckets) {
    auto state = good_team(2);
    state.balance.reset();
    state.runner = "random";
    EXPECT_EQ(balance_text(state), "port  link        speed  transmits  buckets   share\n"
                                   "eth1    up  1000 Mbit/s        yes       64  50.0 %\n"
                                   "eth2    up  1000 Mbit/s        yes       64  50.0 %\n");
    state.runner = "roundrobin";
    for (auto& port : state.ports)
        port.buckets = 0;
    EXPECT_EQ(balance_text(state), "port  link        speed  transmits\n"
                                   "eth1    up  1000 Mbit/s        yes\n"
                                   "eth2    up  1000 Mbit/s        yes\n");
}

TEST(StatsTables, have_a_total_and_no_mean_of_no_packets) {
    auto state = good_team(2);
    state.ports[0].counters = {
        .tx_packets = 2, .tx_bytes = 3001, .rx_packets = 0, .rx_bytes = 0, .rx_dropped = 7};
    EXPECT_EQ(stats_text(state),
              "port   tx packets  tx bytes  tx B/skb  rx packets  rx bytes  rx B/skb  rx dropped\n"
              "eth1            2      3001      1501           0         0         -           7\n"
              "eth2            0         0         -           0         0         -           0\n"
              "total           2      3001      1501           0         0         -           7\n");
    state.counts_by_program = false; // cards count the packets on the wire
    EXPECT_THAT(
        stats_text(state),
        HasSubstr("\neth1            2      3001         -           0         0         -           7\n"));
    EXPECT_EQ(nullptr, json::child(json::child(stats_json(state), "total"), "tx_mean_skb_bytes").integer());
}

TEST(Units, are_readable) {
    EXPECT_EQ(megabits(0), "0 Mbit/s");
    EXPECT_EQ(megabits(125e3), "1.0 Mbit/s");
    EXPECT_EQ(megabits(125e6), "1000 Mbit/s");
    EXPECT_EQ(duration(999ms), "999 ms");
    EXPECT_EQ(duration(90s), "90.0 s");
    EXPECT_EQ(duration(10min), "10 min");
    EXPECT_EQ(duration(5h), "5 h");
    EXPECT_EQ(share(1, 0), "-");
}

} // namespace
} // namespace teamo::ctl
