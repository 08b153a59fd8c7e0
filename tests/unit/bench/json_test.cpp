// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/json.h"

#include "json/parse.h"
#include "json/write.h"

#include <gmock/gmock.h>

#include <limits>

namespace teamo::bench {
namespace {

/// Every member has a value that an empty Results has not.
Results full_results() {
    const Case what{.over = Carrier::teamd,
                    .datapath = "bpf",
                    .ports = 8,
                    .way = Way::both,
                    .load = Load::http,
                    .tso = false,
                    .binding = Binding::cross,
                    .clients = 4,
                    .message = 0,
                    .socket_buffer = 0,
                    .gso_max = 180'000,
                    .mtu = 9'000};
    const CpuTime time{.user = 0.1, .system = 1.0 / 3, .softirq = 2e-9, .irq = 4, .idle = 5.25};
    const PortTraffic port{.tx_bytes = std::numeric_limits<std::int64_t>::max(),
                           .tx_skbs = 2,
                           .tx_packets = 3,
                           .rx_bytes = 4,
                           .rx_skbs = 5,
                           .rx_packets = 6};
    const Sample sample{.seconds = 1.5,
                        .sent = 123'456'789'012.0,
                        .received = 7,
                        .cpus = {{0, time}, {12, {.idle = 1}}},
                        .host = time,
                        .far = CpuTime{.irq = 0.25},
                        .host_threads = 0.125,
                        .far_threads = 0.3,
                        .host_daemon = 0.001,
                        .far_daemon = 0.0,
                        .ports = {{"eth1", port}, {"eth2", {}}},
                        .operations = 99,
                        .latency = {{50, 101.5}, {99.9, 2'000}},
                        .joules = 17.5,
                        .speed = 2.25};
    return {.machine = {.kernel = "6.18",
                        .cpu = "a \"CPU\"",
                        .driver = "veth",
                        .cpus = 2,
                        .version = "1.0",
                        .date = "2026-11-24T22:00:00Z",
                        .sysctls = {{"net.ipv4.tcp_rmem", "4096\t131072\t6291456"}},
                        .nftables = "none",
                        .link_mbits = 1'000,
                        .shaped_by = "tbf",
                        .other_work = 0.25,
                        .meter_needs_root = true},
            .profile = "paper",
            .cases = {{.what = what, .rounds = {sample, {}}, .limit = Limit::shaper},
                      {.what = {}, .skipped = "this kernel has no bonding"},
                      {.what = {.ports = 2, .message = 2'048, .socket_buffer = 262'144},
                       .failed = "a connection was lost"}}};
}

Result<Results> through_text(const Results& results) {
    const auto document = json::parse(json::write(to_json(results)), {.bytes = std::size_t{1} << 24});
    if (!document) return fail(EBADMSG, document.error().text);
    return from_json(*document);
}

TEST(BenchJson, keeps_every_member) {
    const auto results = full_results();
    const auto read = through_text(results);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, results);
}

TEST(BenchJson, of_nothing_reads_as_nothing) {
    const auto read = through_text({});
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, Results{});
}

TEST(BenchJson, of_an_earlier_version_has_no_sizes_of_other_loads) {
    const auto results = from_json(
        json::parse(R"({"format": 1, "cases": [{"case": {"load": "file", "message": 32768}}]})").value());
    EXPECT_EQ(results.value().cases.at(0).what, with_load({}, Load::file));
}

TEST(BenchJson, has_no_control_characters_of_others) {
    Results results{.machine = {.kernel = "\x1b]0;title\a"}, .profile = "quick"};
    EXPECT_EQ(through_text(results).value().machine.kernel, "\\u001b]0;title\\u0007");
}

TEST(BenchJson, refuses_other_formats_and_words) {
    const auto refused = [](std::string_view text) {
        const auto results = from_json(json::parse(text).value());
        return results ? "" : results.error().text;
    };
    EXPECT_EQ(refused(R"({"format": 2})"), "not results of teamo-bench in format 1");
    EXPECT_EQ(refused(R"({"format": 1, "cases": [{"case": {"way": "up"}}]})"),
              "\"way\": unknown word \"up\"");
    EXPECT_EQ(refused(R"({"format": 1, "cases": [{"rounds": [{"latency": {"p50": 1}}]}]})"),
              "\"latency\": an object that is not valid here");
    EXPECT_EQ(refused(R"({"format": 1, "cases": [{"rounds": [{"cpus": {"x": {}}}]}]})"),
              "\"cpus\": \"x\" is not a number");
    EXPECT_EQ(refused(R"({"format": 1, "cases": [{"case": {"ports": 4294967297}}]})"),
              "\"ports\": 4294967297 is out of range");
    EXPECT_EQ(refused(R"({"format": 1, "cases": [{"rounds": [{"sent": -1}]}]})"), "\"sent\": -1 is negative");
    EXPECT_EQ(refused(R"({"format": 1, "cases": [{"rounds": [{"latency": {"nan": 1}}]}]})"),
              "\"latency\": an object that is not valid here");
}

} // namespace
} // namespace teamo::bench
