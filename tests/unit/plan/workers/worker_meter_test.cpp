// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_meter.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr pid_t server = 7, other = 8;
const PortTraces ports{
    .napi_ids = {{8193, "eth1"}}, .devices = {{IfIndex{3}, "eth2"}}, .cpus = {{5, "eth5"}}};

SocketTraffic socket(std::uint64_t cookie, unsigned cpu, std::uint64_t bytes, pid_t process = server) {
    return {.process = process, .cookie = cookie, .cpu = cpu, .bytes = bytes, .packets = bytes / 1000};
}

TEST(WorkerMeter, reports_nothing_after_first_reading) {
    WorkerMeter meter;
    EXPECT_THAT(meter.step(std::vector{socket(1, 2, 1'000'000)}, ports), IsEmpty());
}

TEST(WorkerMeter, counts_new_bytes_by_cpu_of_last_packet) {
    WorkerMeter meter;
    static_cast<void>(meter.step(std::vector{socket(1, 2, 1000), socket(2, 3, 5000)}, ports));
    const auto traffic = meter.step(std::vector{socket(1, 2, 4000), socket(2, 1, 6000)}, ports);
    EXPECT_THAT(traffic, ElementsAre(Pair(server, ProcessTraffic{.bytes = 4000,
                                                                 .packets = 4,
                                                                 .by_cpu = {{1, 1000}, {2, 3000}},
                                                                 .by_port = {}})));
    EXPECT_THAT(meter.step(std::vector{socket(1, 2, 4000), socket(2, 1, 6000)}, ports), IsEmpty());
}

TEST(WorkerMeter, counts_new_connection_in_full) {
    WorkerMeter meter;
    static_cast<void>(meter.step({}, ports));
    EXPECT_EQ(meter.step(std::vector{socket(1, 2, 7000)}, ports).at(server).bytes, 7000U);
}

TEST(WorkerMeter, finds_port_by_napi_device_and_cpu) {
    WorkerMeter meter;
    static_cast<void>(meter.step({}, ports));
    auto by_napi = socket(1, 5, 1000), by_device = socket(2, 5, 2000), by_cpu = socket(3, 5, 4000),
         unknown = socket(4, 6, 8000);
    by_napi.napi = 8193;
    by_device.device = IfIndex{3};
    by_cpu.napi = 4; // too low for a NAPI id: the sending CPU, which shares the field (skb->sender_cpu)
    const auto traffic = meter.step(std::vector{by_napi, by_device, by_cpu, unknown}, ports);
    EXPECT_THAT(traffic.at(server).by_port,
                ElementsAre(Pair("eth1", 1000), Pair("eth2", 2000), Pair("eth5", 4000)));
    EXPECT_EQ(traffic.at(server).bytes, 15000U);
}

/// A device in a container may have the index of one of our ports.
TEST(WorkerMeter, ignores_device_of_other_namespace) {
    WorkerMeter meter;
    static_cast<void>(meter.step({}, ports));
    auto foreign = socket(1, 5, 1000), by_napi = socket(2, 5, 2000);
    foreign.device = by_napi.device = IfIndex{3};
    foreign.foreign = by_napi.foreign = true;
    by_napi.napi = 8193;
    EXPECT_THAT(meter.step(std::vector{foreign, by_napi}, ports).at(server).by_port,
                ElementsAre(Pair("eth1", 2000), Pair("eth5", 1000)));
}

TEST(WorkerMeter, divides_socket_shared_by_processes) {
    WorkerMeter meter;
    static_cast<void>(meter.step({}, ports));
    const auto traffic = meter.step(std::vector{socket(1, 2, 9000), socket(1, 2, 9000, other)}, ports);
    EXPECT_EQ(traffic.at(server).bytes, 4500U);
    EXPECT_EQ(traffic.at(other).bytes, 4500U);
}

TEST(WorkerMeter, scales_sampled_udp) {
    WorkerMeter meter;
    auto idle = socket(9, 0, 0);
    idle.transport = Transport::udp;
    auto row = socket(9, 4, 3000);
    row.transport = Transport::udp;
    static_cast<void>(meter.step(std::vector{idle}, ports));
    const auto traffic = meter.step(std::vector{idle}, ports, std::vector{row}, 5);
    EXPECT_THAT(traffic.at(server).by_cpu, ElementsAre(Pair(4, 15000)));
    EXPECT_EQ(traffic.at(server).packets, 15U);
}

TEST(WorkerMeter, handles_wrapped_packet_counter) {
    WorkerMeter meter;
    auto before = socket(1, 2, 1000), after = socket(1, 2, 3000);
    before.packets = 0xffffffff;
    after.packets = 1;
    static_cast<void>(meter.step(std::vector{before}, ports));
    EXPECT_EQ(meter.step(std::vector{after}, ports).at(server).packets, 2U);
}

} // namespace
} // namespace teamo
