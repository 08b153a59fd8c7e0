// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state.h"

#include "control/state_document.h"

#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

TeamStatus team() {
    TeamStatus status;
    status.name = "team0";
    status.ifindex = IfIndex{9};
    status.address = *parse_mac_address("52:54:00:aa:bb:cc");
    status.runner = LoadBalanceRunner{};
    status.datapath = "bpf";
    PortStatus port;
    port.name = "eth1";
    port.ifindex = IfIndex{3};
    port.address = status.address;
    port.link = {.up = true, .speed = 1000, .duplex = Duplex::full};
    port.link_up = port.transmits = port.receives = true;
    port.buckets = 256;
    port.counters = {
        .tx_packets = 1, .tx_bytes = 5'000'000'000, .rx_packets = 3, .rx_bytes = 4, .rx_dropped = 5};
    status.ports = {port};
    return status;
}

BalanceStatus balance() {
    using enum HashField;
    BalanceStatus status;
    status.config.on = true;
    status.config.aware = false;
    status.config.interval = std::chrono::milliseconds(300);
    status.counted = status.frozen = true;
    status.tx_hash = eth | vlan | ipv4 | sctp | cpu;
    status.leaves_by[255] = "eth1";
    status.then[255] = {"eth2", "eth3"};
    status.loads[7] = {.bytes = 1000, .packets = 10, .bulk = 500};
    status.ports = {{.name = "eth1",
                     .bytes = 1e9,
                     .packets = 1e5,
                     .bulk = 5e8,
                     .planned = 9e8,
                     .capacity = 125e6,
                     .segments = false,
                     .cpu_load = 0.25,
                     .interrupt_cpus = {3},
                     .cpus = {1, 3}}};
    status.moves = {{.bucket = 200,
                     .from = "eth1",
                     .to = "eth2",
                     .gain = 0.125,
                     .reason = MoveReason::offload,
                     .end = MoveEnd::given_up,
                     .waited = std::chrono::milliseconds(40),
                     .ago = std::chrono::milliseconds(70)}};
    return status;
}

TEST(States, are_read_as_the_daemon_writes_them) {
    auto status = team();
    status.balance = balance();
    const auto state = read_state(control::state_document(status));
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(state->name, "team0");
    EXPECT_EQ(state->runner, "loadbalance");
    EXPECT_EQ(state->datapath, "bpf");
    EXPECT_EQ(state->ifindex, IfIndex{9});
    EXPECT_EQ(state->address, status.address);
    auto port = state->ports.at(0);
    port.link.duplex = Duplex::full; // read_state() does not read it
    EXPECT_EQ(port, status.ports.at(0));
    EXPECT_EQ(state->balance, status.balance);
}

TEST(States, have_the_offloads_as_the_daemon_writes_them) {
    auto status = team();
    status.offload = {.lacking = Lacking::demote,
                      .repair = true,
                      .team = {.name = "team0", .active = {"rx-gro"}, .gso_max = {65536, 65535, 65536}},
                      .ports = {{.name = "eth1",
                                 .active = {"rx-gro", "rx-lro"},
                                 .changeable = {"rx-gro"},
                                 .shall_be_on = {"rx-gro"},
                                 .shall_be_off = {"rx-lro"},
                                 .required = {"tx-tcp-segmentation"},
                                 .lacking = {"tx-tcp-segmentation"},
                                 .repaired = 3,
                                 .gave_up = true,
                                 .last = true,
                                 .gso_max = {1, 2, 3}}}};
    const auto state = read_state(control::state_document(status));
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(state->offload, status.offload);
}

TEST(States, of_teams_that_do_not_hash_have_no_balance) {
    const auto state = read_state(control::state_document(team()));
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(state->balance, std::nullopt);
}

TEST(States, of_teamd_are_refused) {
    auto document = control::state_document(team());
    document.erase("datapath");
    const auto state = read_state(std::move(document));
    ASSERT_FALSE(state.has_value());
    EXPECT_EQ(state.error().number, ENOTSUP);
}

} // namespace
} // namespace teamo::ctl
