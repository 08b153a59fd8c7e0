// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/subsystem_documents.h"
#include "ctl/report/offload_report.h"
#include "unit/ctl/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const FeatureNames usual{"tx-tcp-segmentation",
                         "tx-tcp6-segmentation",
                         "tx-udp-segmentation",
                         "tx-generic-segmentation",
                         "rx-gro",
                         "tx-checksum-ip-generic",
                         "rx-checksum",
                         "tx-scatter-gather",
                         "tx-vlan-hw-insert",
                         "rx-vlan-hw-parse"};

DeviceOffloads device(const std::string& name) {
    return {.name = name, .active = usual, .changeable = usual, .gso_max = {65536, 65535, 65536}};
}

OffloadStatus good_offloads(unsigned ports) {
    OffloadStatus status{.lacking = Lacking::accept, .repair = true, .team = device("team0"), .ports = {}};
    for (unsigned number = 1; number <= ports; ++number)
        status.ports.push_back(device("eth" + std::to_string(number)));
    return status;
}

void switch_off(DeviceOffloads& port, std::initializer_list<const char*> features) {
    for (const auto* feature : features)
        port.active.erase(feature);
}

OffloadReport report_of(OffloadStatus offload) {
    OffloadReport report{.state = good_team(static_cast<unsigned>(offload.ports.size())),
                         .costs = {},
                         .measurement_error = {}};
    report.state.document = json::Object{{"offload", control::offload_document(offload)}};
    report.state.offload = std::move(offload);
    return report;
}

TEST(OffloadTable, has_a_row_for_each_port_and_one_for_the_team) {
    auto offload = good_offloads(2);
    offload.ports[1].active.erase("tx-vlan-hw-insert");
    offload.ports[1].changeable.insert("rx-gro-hw");
    EXPECT_EQ(offload_text(report_of(offload)),
              "port   tso  uso  gso  gro  lro  tx  rx  sg  vlan  tunnel  tls  gso-max  repaired\n"
              "eth1    on   on   on   on    -  on  on  on    on       -    -    65536         0\n"
              "eth2    on   on   on   on    -  on  on  on  part       -    -    65536         0\n"
              "team0   on   on   on   on    -  on  on  on    on       -    -    65536         0\n"
              "no port limits the team\n");
}

TEST(OffloadTable, marks_lacking_offloads_and_those_not_as_configured) {
    auto offload = good_offloads(3);
    auto &lacks = offload.ports[0], &off = offload.ports[1], &on = offload.ports[2];
    switch_off(lacks, {"tx-tcp-segmentation", "tx-tcp6-segmentation"});
    lacks.required = lacks.lacking = {"tx-tcp-segmentation", "tx-esp-segmentation"};
    lacks.repaired = 8;
    switch_off(off, {"rx-gro"});
    off.planned_on = {"rx-gro"};
    on.active.insert("rx-lro");
    on.planned_off = {"rx-lro"};
    EXPECT_THAT(
        offload_text(report_of(offload)),
        StartsWith(
            "port    tso  tso6  uso  gso   gro  lro  tx  rx  sg  vlan  tunnel  tls  gso-max  repaired\n"
            "eth1   off!   off   on   on    on    -  on  on  on    on    off!    -    65536         8\n"
            "eth2     on    on   on   on  off*    -  on  on  on    on       -    -    65536         0\n"
            "eth3     on    on   on   on    on  on*  on  on  on    on       -    -    65536         0\n"
            "team0    on    on   on   on    on    -  on  on  on    on       -    -    65536         0\n"
            "!  required, but not on\n"
            "*  not as configured\n"));
}

TEST(OffloadRemarks, report_lacking_offloads_and_whether_the_port_is_used) {
    auto offload = good_offloads(2);
    auto& port = offload.ports[1];
    switch_off(port, {"tx-tcp-segmentation"});
    port.required = port.lacking = {"tx-tcp-segmentation", "tx-esp-segmentation"};
    EXPECT_THAT(offload_remarks(offload),
                ElementsAre("eth2 limits the team: it has no tx-esp-segmentation and has "
                            "tx-tcp-segmentation off, which is required; it is used anyway"));
    port.last = port.gave_up = true;
    port.repaired = 15;
    EXPECT_THAT(offload_remarks(offload),
                ElementsAre(HasSubstr("which is required; it carries only while no other port can"),
                            "eth2: another program keeps changing its offloads; the daemon gave up after 15 "
                            "repairs"));
}

TEST(OffloadRemarks, distinguish_configured_off_from_missing) {
    auto offload = good_offloads(3);
    switch_off(offload.ports[0], {"tx-tcp-segmentation"});
    offload.ports[0].planned_off = {"tx-tcp-segmentation"};
    switch_off(offload.ports[1], {"tx-udp-segmentation"});
    switch_off(offload.ports[2], {"tx-udp-segmentation"});
    offload.ports[2].changeable.erase("tx-udp-segmentation");
    EXPECT_THAT(offload_remarks(offload),
                ElementsAre("eth1 limits the team: it has tx-tcp-segmentation off, as configured; others "
                            "have it on",
                            "eth2 limits the team: it has tx-udp-segmentation off, which others have on",
                            "eth3 limits the team: it has no tx-udp-segmentation, which others have"));
    for (auto& port : offload.ports)
        switch_off(port, {"tx-udp-segmentation", "tx-tcp-segmentation"});
    EXPECT_THAT(offload_remarks(offload), ElementsAre("no port limits the team")) << "no port has it";
}

TEST(OffloadRemarks, take_a_generic_checksum_for_all_protocols) {
    auto offload = good_offloads(2);
    switch_off(offload.ports[0], {"tx-checksum-ip-generic"});
    offload.ports[0].active.insert({"tx-checksum-ipv4", "tx-checksum-ipv6"});
    EXPECT_THAT(offload_remarks(offload), ElementsAre("no port limits the team"));
    offload.ports[0].active.erase("tx-checksum-ipv6");
    EXPECT_THAT(offload_remarks(offload), ElementsAre(HasSubstr("it has no tx-checksum-ipv6")));
}

TEST(OffloadRemarks, report_changes_that_are_not_repaired) {
    auto offload = good_offloads(1);
    offload.repair = false;
    switch_off(offload.ports[0], {"rx-gro"});
    offload.ports[0].planned_on = {"rx-gro"};
    EXPECT_THAT(offload_remarks(offload),
                ElementsAre("eth1: rx-gro is configured on, but is off; it is not repaired, because "
                            "\"repair\" is false"));
}

TEST(OffloadRemarks, name_the_port_that_limits_packets) {
    auto offload = good_offloads(3);
    for (auto* one : {&offload.ports[1], &offload.team})
        one->gso_max = {.size = 20000, .segs = 65535, .ipv4_size = 20000};
    EXPECT_THAT(
        offload_remarks(offload),
        ElementsAre("eth2 limits the packets of the team to 20000 bytes; the other ports allow 65536"));
    // A port without TSO does not limit the team.
    switch_off(offload.ports[1], {"tx-tcp-segmentation"});
    offload.team.gso_max = {65536, 65535, 65536};
    EXPECT_THAT(offload_remarks(offload), Not(Contains(HasSubstr("bytes"))));
    offload.team.gso_max.size = 30000;
    EXPECT_THAT(
        offload_remarks(offload),
        Contains("team0: packets are limited to 30000 bytes by another program or the user; its ports "
                 "take 65536"));
}

TEST(OffloadRemarks, know_the_limits_of_segments_and_of_ipv4) {
    auto offload = good_offloads(2);
    offload.ports[0].gso_max = {.size = 65536, .segs = 64, .ipv4_size = 40000};
    offload.team.gso_max = {.size = 65536, .segs = 64, .ipv4_size = 40000};
    EXPECT_THAT(
        offload_remarks(offload),
        ElementsAre(
            "eth1 limits the packets of the team to 64 segments; the other ports allow 65535",
            "eth1 limits the packets of the team to 40000 bytes with IPv4; the other ports allow 65536"));
}

TEST(OffloadRemarks, report_a_team_without_tso) {
    auto offload = good_offloads(1);
    switch_off(offload.team, {"tx-tcp-segmentation", "tx-tcp6-segmentation"});
    EXPECT_THAT(offload_remarks(offload),
                Contains(HasSubstr("the CPU segments every packet before a port gets it")));
}

struct Moments {
    TeamState before = good_team(2), after = good_team(2);
};

Moments moments(std::uint64_t bytes, std::uint64_t packets) {
    Moments both;
    both.before.ports[0].counters = {.tx_packets = 7, .tx_bytes = 7000};
    both.after.ports[0].counters = {.tx_packets = 7 + packets, .tx_bytes = 7000 + bytes};
    return both;
}

TEST(Sending, uses_the_counted_share_of_bulk) {
    auto [before, after] = moments(10'000'000, 1000);
    after.balance->ports[0].bytes = 4e6; // of another interval
    after.balance->ports[0].bulk = 1e6;
    EXPECT_EQ(sending_between(before, after, "eth1", 1500, 2s),
              (Sending{.bytes = 5e6, .packets = 500, .bulk = 1.25e6, .source = BulkSource::counted}));
    EXPECT_EQ(sending_between(before, after, "eth1", 1500, 0s), Sending{});
    EXPECT_EQ(sending_between(before, after, "eth2", 1500, 1s).bulk, 0);
    std::swap(before, after);
    EXPECT_EQ(sending_between(before, after, "eth1", 1500, 1s).bytes, 0) << "it was removed and added again";
}

TEST(Sending, derives_a_lower_bound_from_the_mean_size) {
    auto [before, after] = moments(10'000'000, 1000);
    after.balance.reset();
    EXPECT_EQ(sending_between(before, after, "eth1", 1500, 1s),
              (Sending{.bytes = 1e7, .packets = 1000, .bulk = 1e7 - 1518e3, .source = BulkSource::at_least}));
    EXPECT_EQ(sending_between(before, after, "eth1", 65535, 1s).bulk, 0);
    after.counts_by_program = false; // counts what is on the wire
    EXPECT_EQ(sending_between(before, after, "eth1", 1500, 1s).source, BulkSource::unknown);
    EXPECT_EQ(sending_between(before, after, "eth1", 1500, 1s).bulk, 1e7);
}

TEST(SoftwareTso, is_for_devices_without_tso) {
    auto port = device("eth1");
    EXPECT_EQ(software_tso_of(port), SoftwareTso::none);
    switch_off(port, {"tx-tcp6-segmentation"});
    EXPECT_EQ(software_tso_of(port), SoftwareTso::one_family);
    switch_off(port, {"tx-tcp-segmentation"});
    EXPECT_EQ(software_tso_of(port), SoftwareTso::all);
    EXPECT_EQ(software_tso_of({}), SoftwareTso::none) << "its offloads are not known";
    EXPECT_EQ(segmentation_of(port, 9000), (Segmentation{.mtu = 9000}));
    switch_off(port, {"tx-scatter-gather", "tx-checksum-ip-generic"});
    EXPECT_EQ(segmentation_of(port, 1500), (Segmentation{.scatter_gather = false, .checksum = false}));
}

PortCost cost_of(double bulk) {
    return {.port = "eth1",
            .software_tso = SoftwareTso::all,
            .sending = {.bytes = bulk, .packets = 100, .bulk = bulk, .source = BulkSource::counted},
            .measured = SegmentationCost{.whole = 50, .cut = 274}};
}

TEST(Costs, are_rate_times_extra_cost_per_kib) {
    EXPECT_THAT(*cpu_share(cost_of(41.2e6)), DoubleNear(41.2e6 / 1024 * 224e-9, 1e-9));
    auto noise = cost_of(41.2e6);
    noise.measured = SegmentationCost{.whole = 51, .cut = 50};
    EXPECT_EQ(cpu_share(noise), 0);
    noise.measured.reset();
    EXPECT_EQ(cpu_share(noise), std::nullopt);
}

std::string remark_on(const PortCost& cost, const std::string& error = "") {
    auto report = report_of(good_offloads(1));
    report.costs = {cost};
    report.measurement_error = error;
    return cost_remarks(report).at(0);
}

TEST(Costs, are_shown_with_their_inputs) {
    auto cost = cost_of(41.25e6);
    EXPECT_EQ(remark_on(cost),
              "eth1: 330 Mbit/s of bulk, segmented in software: 0.9 % of a CPU (224 ns/KiB measured here)");
    EXPECT_THAT(remark_on(cost_of(412.5e6)), HasSubstr(": 9.0 % of a CPU"));
    cost.sending.source = BulkSource::at_least;
    EXPECT_THAT(remark_on(cost),
                StartsWith("eth1: at least 330 Mbit/s of bulk, segmented in software: 0.9 %"));
    cost.sending.source = BulkSource::unknown;
    EXPECT_THAT(remark_on(cost),
                HasSubstr("not known how much of it is bulk, segmented in software: at most 0.9 %"));
    cost.sending.source = BulkSource::counted;
    cost.software_tso = SoftwareTso::one_family;
    EXPECT_THAT(remark_on(cost), HasSubstr("bulk, partly segmented in software: at most 0.9 %"));
}

TEST(Costs, are_not_shown_without_traffic_or_measurement) {
    EXPECT_EQ(remark_on(cost_of(0)), "eth1: nothing to segment now");
    auto small = cost_of(0);
    small.sending.source = BulkSource::at_least;
    small.sending.bytes = 20000;
    EXPECT_THAT(remark_on(small), HasSubstr("packets have 200 bytes on average"));
    auto blind = cost_of(41.25e6);
    blind.measured.reset();
    EXPECT_EQ(remark_on(blind, "cannot make a network namespace: Operation not permitted"),
              "eth1: 330 Mbit/s of bulk, segmented in software; the cost is not measured: cannot make a "
              "network namespace: Operation not permitted");
}

TEST(OffloadJson, has_the_same_figures) {
    auto report = report_of(good_offloads(2));
    report.costs = {cost_of(41.25e6)};
    const auto document = offload_json(report);
    ASSERT_NE(document.find("ports"), nullptr);
    const auto* port = document.find("ports")->find("eth1");
    ASSERT_NE(port, nullptr);
    EXPECT_NE(port->find("active"), nullptr);
    const auto* cost = port->find("cost");
    ASSERT_NE(cost, nullptr);
    EXPECT_EQ(*cost->find("bulk_bytes_per_second")->integer(), 41'250'000);
    EXPECT_EQ(*cost->find("ns_per_kib")->real(), 224);
    EXPECT_THAT(*cost->find("cpu_percent")->real(), DoubleNear(0.902, 0.001));
    EXPECT_EQ(*cost->find("bulk_source")->string(), "counted");
    EXPECT_EQ(document.find("ports")->find("eth2")->find("cost"), nullptr);
    EXPECT_NE(document.find("team_device")->find("gso_max"), nullptr);
    EXPECT_EQ(document.find("remarks")->array()->size(), 1U);
}

TEST(OffloadReports, need_a_daemon_that_reports_offloads) {
    const auto refused = require_part(good_team().offload.has_value());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().number, ENOTSUP);
    EXPECT_THAT(refused.error().text, HasSubstr("too old for this command"));
    EXPECT_TRUE(require_part(report_of(good_offloads(1)).state.offload.has_value()));
}

} // namespace
} // namespace teamo::ctl
