// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each document is read as it was written.
#include "control/state_document.h"
#include "control/subsystem_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::control {
namespace {

using std::chrono::milliseconds;
using testing::IsEmpty;

BalanceStatus written_balance() {
    using enum HashField;
    BalanceStatus status;
    status.config.on = true;
    status.config.aware = false;
    status.config.interval = milliseconds(300);
    status.counted = status.frozen = true;
    status.tx_hash = eth | vlan | ipv4 | sctp | cpu;
    status.leaves_by[255] = "eth1";
    status.next_ports[255] = {"eth2", "eth3"};
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
                     .waited = milliseconds(40),
                     .ago = milliseconds(70)}};
    return status;
}

TEST(RoundTrip, of_balance) {
    EXPECT_EQ(read_balance(balance_document(written_balance())), written_balance());
}

OffloadStatus written_offloads() {
    return {.lacking = Lacking::demote,
            .repair = true,
            .team = {.name = "", .active = {"rx-gro"}, .gso_max = {65536, 65535, 65536}},
            .ports = {{.name = "eth1",
                       .active = {"rx-gro", "rx-lro"},
                       .changeable = {"rx-gro"},
                       .planned_on = {"rx-gro"},
                       .planned_off = {"rx-lro"},
                       .required = {"tx-tcp-segmentation"},
                       .lacking = {"tx-tcp-segmentation"},
                       .repaired = 3,
                       .gave_up = true,
                       .last = true,
                       .gso_max = {1, 2, 3}}}};
}

TEST(RoundTrip, of_offloads) {
    EXPECT_EQ(read_offloads(offload_document(written_offloads())), written_offloads());
}

InterruptStatus written_interrupts() {
    using enum CpuSetting::Kind;
    PortInterruptStatus port{.name = "eth0",
                             .cpus = {2, 0},
                             .reason = "CPU 2: a core of its own",
                             .moves = true,
                             .wanted = {{{irq, 33}, {2}}, {{irq, 34}, {2, 3}}},
                             .shares = {"eth1"},
                             .refused = {"interrupt 34: the kernel keeps it"},
                             .threads_stay = true,
                             .repaired = 3,
                             .contested = true,
                             .drift = "interrupt 33 went to CPU 0 by another program"};
    port.now = {
        .source = VectorSource::names,
        .queues =
            {{.queue = 1,
              .vectors = {{.irq = 33, .name = "eth0-rx-0", .affinity = {2}, .effective = {2}, .count = 12}},
              .thread = NapiThread{.pid = 77, .affinity = {2}},
              .second_thread = NapiThread{.pid = 78, .affinity = {3}}}},
        .others = {{.irq = 34, .name = "eth0", .movable = false, .affinity = {0, 1, 2, 5}},
                   {.irq = 35, .name = "eth0-fdir"}},
        .node = 1,
        .xps = {{0, 1}, {2, 3}},
        .rps = {{}, {4}}};
    return {.policy = InterruptPolicy::off,
            .managed = false,
            .degraded = "3 ports, 2 CPUs",
            .writers = {{.program = InterruptWriter::Program::udevd,
                         .spares_ports = true,
                         .text = "it leaves them alone"}},
            .ports = {port, {.name = "veth0"}}};
}

TEST(RoundTrip, of_interrupts) {
    EXPECT_EQ(read_interrupts(interrupt_document(written_interrupts())), written_interrupts());
}

WorkersStatus written_workers() {
    using enum WorkerPolicy;
    return {.managed = false,
            .refused = "RFS is on",
            .limitations = "UDP is not seen",
            .complaint = "process 7: Operation not permitted",
            .rules = {{.selector = WorkerSelector::user, .name = "www-data", .policy = spread},
                      {.selector = WorkerSelector::command, .name = "a b*", .policy = off}},
            .workers = {{.worker = {.id = {.pid = 4711, .started = 0},
                                    .command = "nginx",
                                    .user = 33,
                                    .cgroup = "/system.slice/nginx.service",
                                    .unit = "nginx.service",
                                    .threads = 4},
                         .rule = "unit nginx.service",
                         .policy = spread,
                         .traffic = {.bytes = 5'000'000'000,
                                     .packets = 9,
                                     .by_cpu = {{2, 4'000'000'000}, {10, 1}},
                                     .by_port = {{"eth0", 8}, {"eth1.100", 3}}},
                         .work = 1.25,
                         .cpus = {2, 3, 4},
                         .reason = "98 % of its traffic arrives on CPU 2"}}};
}

TEST(RoundTrip, of_workers) {
    EXPECT_EQ(read_workers(workers_document(written_workers())), written_workers());
}

TeamStatus written_team() {
    TeamStatus status;
    status.name = "team0";
    status.ifindex = IfIndex{9};
    status.address = *parse_mac_address("52:54:00:aa:bb:cc");
    status.link = {.up = true, .speed = 2000};
    status.runner = LoadBalanceRunner{};
    status.datapath = "bpf";
    status.counts_by_program = true;
    status.device_kind = "netkit";
    PortStatus port;
    port.name = "eth1";
    port.ifindex = IfIndex{3};
    port.address = status.address;
    port.link = {.up = true, .speed = 1000};
    port.link_up = port.transmits = port.receives = true;
    port.buckets = 256;
    port.counters = {.tx_packets = 1,
                     .tx_bytes = 5'000'000'000,
                     .rx_packets = 3,
                     .rx_bytes = 4,
                     .rx_dropped = 5,
                     .tx_steered_bytes = 4'000};
    status.ports = {port, {}};
    status.ports[1].name = "eth2";
    return status;
}

TEST(RoundTrip, of_a_state) {
    auto status = written_team();
    status.balance = written_balance();
    status.offload = written_offloads();
    status.offload->team.name = status.name;
    status.interrupts = written_interrupts();
    status.workers = written_workers();
    status.guard = GuardStatus{.mode = GuardMode::full,
                               .aside = "team0 is a port of bridge0",
                               .passed = 7,
                               .dropped = {.arp_requests = 1,
                                           .neighbour_solicitations = 2,
                                           .unicast = 3,
                                           .broadcasts = 4,
                                           .multicasts = 5,
                                           .of_a_sender = 6}};
    status.refused = {{.where = "eth1", .what = "Device or resource busy"}};
    status.attached = AttachedStatus{.mode = "802.3ad",
                                     .policy = "layer2",
                                     .own_policy = "layer2",
                                     .unsteered = Unsteered::owner,
                                     .detail = {}};
    status.version = "1.2.3";
    const auto document = state_document(status);
    const auto state = read_state(document);
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(*state, (TeamState{.name = "team0",
                                 .runner = "lacp",
                                 .datapath = "bpf",
                                 .device_kind = "netkit",
                                 .version = "1.2.3",
                                 .ifindex = IfIndex{9},
                                 .address = status.address,
                                 .counts_by_program = true,
                                 .attached = status.attached,
                                 .link = status.link,
                                 .ports = status.ports,
                                 .balance = status.balance,
                                 .offload = status.offload,
                                 .interrupts = status.interrupts,
                                 .workers = status.workers,
                                 .guard = status.guard,
                                 .refused = status.refused,
                                 .document = document}));
}

TEST(RoundTrip, of_a_state_without_optional_parts) {
    auto status = written_team();
    status.ports.clear();
    const auto state = read_state(state_document(status));
    ASSERT_TRUE(state.has_value());
    EXPECT_THAT(state->ports, IsEmpty());
    EXPECT_EQ(state->balance, std::nullopt);
    EXPECT_EQ(state->offload, std::nullopt);
    EXPECT_EQ(state->interrupts, std::nullopt);
    EXPECT_EQ(state->workers, std::nullopt);
}

TEST(ReadState, refuses_the_document_of_teamd) {
    auto document = state_document(written_team());
    document.erase("datapath");
    const auto state = read_state(std::move(document));
    ASSERT_FALSE(state.has_value());
    EXPECT_EQ(state.error().number, ENOTSUP);
}

TEST(ReadState, has_zeros_for_missing_and_wrong_values) {
    using json::Array;
    using json::Object;
    const json::Value wrong = Object{{"cpu_load_percent", "much"}, {"bucket", 256},  {"cpus", Array{"2", -1}},
                                     {"reason", "whim"},           {"segments", 1},  {"ago_ms", nullptr},
                                     {"policy", "sometimes"},      {"node", "1"},    {"pid", 5'000'000'000},
                                     {"bytes_by_cpu", Array{}},    {"threads", "-"}, {"rule", 5}};
    const json::Value document = Object{{"ports", Object{{"eth1", wrong}}},
                                        {"moves", Array{wrong}},
                                        {"workers", Array{wrong}},
                                        {"rules", Array{wrong}},
                                        {"buckets", Object{{"port", Array{1}}, {"bytes_per_second", "-"}}},
                                        {"tx_hash", Object{}}};
    const auto balance = read_balance(document);
    EXPECT_EQ(balance.ports,
              (std::vector<PortBalance>{{.name = "eth1", .rate = 0, .segments = false, .cpus = {0, 0}}}));
    EXPECT_EQ(balance.moves, std::vector<MoveStatus>(1));
    EXPECT_EQ(balance.leaves_by, BalanceStatus{}.leaves_by);
    EXPECT_EQ(balance.tx_hash, 0U);
    const auto interrupts = read_interrupts(document);
    EXPECT_EQ(interrupts.policy, InterruptPolicy::unique);
    EXPECT_FALSE(interrupts.managed);
    EXPECT_EQ(interrupts.ports.at(0).now.node, 0);
    const auto workers = read_workers(document);
    EXPECT_EQ(workers.workers.at(0).policy, WorkerPolicy::follow);
    EXPECT_EQ(workers.workers.at(0).worker.id.pid, 0);
    EXPECT_EQ(workers.rules.at(0).name, "");
    for (const auto& none : {json::Value(), json::Value(3), json::Value(Array{wrong})}) {
        EXPECT_THAT(read_balance(none).ports, IsEmpty());
        EXPECT_THAT(read_offloads(none).ports, IsEmpty());
        EXPECT_THAT(read_interrupts(none).ports, IsEmpty());
        EXPECT_THAT(read_workers(none).workers, IsEmpty());
    }
}

TEST(RoundTrip, of_failure_domains) {
    const FailureDomain domain{
        .card = "0000:03:00",
        .root_port = "0000:00:1c.0",
        .node = 1,
        .at = {.source = SwitchSource::lldp, .id = "00:11:22:33:44:55", .name = "leaf-7", .port = "Eth1"}};
    TeamStatus status;
    status.name = "team0";
    status.common = domain;
    auto& port = status.ports.emplace_back();
    port.name = "eth1";
    port.domain = domain;
    port.domain.at.source = SwitchSource::lacp;
    const auto read = read_state(state_document(status));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->common, domain);
    EXPECT_EQ(read->ports.at(0).domain, port.domain);
}

TEST(RoundTrip, of_the_state_of_lacp) {
    TeamStatus status;
    status.runner = LacpRunner{};
    for (const auto* name : {"eth1", "eth2"})
        status.ports.emplace_back().name = name;
    status.ports[0].lacp.emplace().state = "fallback";
    const auto read = read_state(state_document(status));
    ASSERT_TRUE(read);
    ASSERT_TRUE(read->ports.at(0).lacp);
    EXPECT_EQ(read->ports[0].lacp->state, "fallback");
    EXPECT_TRUE(read->ports[0].lacp->fallback);
    EXPECT_EQ(read->ports.at(1).lacp, std::nullopt);
}

} // namespace
} // namespace teamo::control
