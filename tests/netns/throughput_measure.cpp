// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The team beside one plain veth, on the same path and in the same run.
#include "netns/configs.h"
#include "support/traffic.h"

#include <gmock/gmock.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <array>

namespace teamo::test {
namespace {

constexpr const char *plain_v4 = "10.0.1.1", *plain_peer_v4 = "10.0.1.2";

/// Four ports and a cable of its own beside them, all into one switch, whose own address answers.
class Path {
public:
    Path() : wires_(5, FarSide::lag_switch), team_(loadbalance(4)) {
        wires_.host().ip(fmt::format("link set eth5 up\naddr add {}/24 dev eth5", plain_v4));
        wires_.peer().ip(fmt::format("addr add {}/24 dev br0\naddr add 10.0.0.4/24 dev br0\n"
                                     "link set p5 type bridge_slave isolated off flood on bcast_flood on",
                                     plain_peer_v4));
        wires_.address();
        if (!reaches(wires_.host(), plain_peer_v4) || !reaches(wires_.host(), "10.0.0.4"))
            throw SetupError("the far end does not answer");
    }
    const Cabling& wires() const { return wires_; }

    /// Mbit/s of one connection for some seconds to that address.
    double run_to(const char* address, int streams) const {
        auto server = Process::start({.argv = {"iperf3", "-s", "-1", "--forceflush"}, .in = &wires_.peer()});
        if (!eventually("", [&] { return server.out().find("listening") != std::string::npos; }))
            throw SetupError("iperf3 does not listen: " + server.err());
        const auto done =
            run({.argv = {"iperf3", "-J", "-t", "2", "-P", std::to_string(streams), "-c", address},
                 .in = &wires_.host()});
        rapidjson::Document document;
        document.Parse(done.out.c_str());
        if (document.HasParseError() || !document.HasMember("end") ||
            !document["end"].HasMember("sum_received"))
            throw SetupError("iperf3: " + done.out + done.err);
        return document["end"]["sum_received"]["bits_per_second"].GetDouble() / 1e6;
    }

    Counters ports() const {
        Counters sum;
        for (unsigned number = 1; number <= 4; ++number) {
            const auto one = counters(wires_.host(), Cabling::port(number));
            sum.tx_bytes += one.tx_bytes;
            sum.tx_packets += one.tx_packets;
        }
        return sum;
    }

private:
    Cabling wires_;
    TeamUnderTest team_;
};

double median(std::array<double, 3> values) {
    std::ranges::sort(values);
    return values[1];
}

class Throughput : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Connections, Throughput, testing::Values(1, 4), testing::PrintToStringParamName());

TEST_P(Throughput, of_the_team_is_nine_tenths_of_a_plain_veth_with_packets_whole) {
    const Path path;
    std::array<double, 3> team{}, plain{}, per_skb{};
    for (std::size_t round = 0; round < 3; ++round) {
        const auto before = path.ports();
        team.at(round) = path.run_to("10.0.0.4", GetParam());
        const auto passed = path.ports() - before;
        per_skb.at(round) = static_cast<double>(passed.tx_bytes) / static_cast<double>(passed.tx_packets);
        plain.at(round) = path.run_to(plain_peer_v4, GetParam());
        fmt::print("round {}: team {:.0f} Mbit/s, {:.0f} bytes an skb; plain veth {:.0f} Mbit/s\n", round + 1,
                   team.at(round), per_skb.at(round), plain.at(round));
    }
    const auto ratio = median(team) / median(plain);
    fmt::print("medians: team {:.0f}, plain {:.0f} Mbit/s, ratio {:.3f}, {:.0f} bytes an skb\n", median(team),
               median(plain), ratio, median(per_skb));
    RecordProperty("ratio_percent", static_cast<int>(ratio * 100));
    RecordProperty("bytes_per_skb", static_cast<int>(median(per_skb)));
    EXPECT_GE(median(per_skb), 20'000);
    EXPECT_GE(ratio, 0.9);
}

} // namespace
} // namespace teamo::test
