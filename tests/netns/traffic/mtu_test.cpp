// SPDX-License-Identifier: LGPL-2.1-or-later
#include "netns/configs.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

class Mtu : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Bytes, Mtu, testing::Values(68, 1280, 9000, 65535),
                         testing::PrintToStringParamName());

TEST_P(Mtu, follows_the_team_and_is_restored) {
    const Cabling wires(2, FarSide::open);
    wires.host().ip("link set eth2 mtu 1400");
    TeamUnderTest team(team_config(by_flow, ports_object(2)));
    wires.host().ip(fmt::format("link set team0 up mtu {}", GetParam()));
    for (const auto* port : {"eth1", "eth2"})
        EXPECT_TRUE(becomes(GetParam(), [&] { return look(wires.host(), port).mtu; })) << port;
    EXPECT_EQ(GetParam(), look(wires.host(), "team0").mtu);
    EXPECT_EQ(0, team.stop());
    EXPECT_EQ(1500U, look(wires.host(), "eth1").mtu);
    EXPECT_EQ(1400U, look(wires.host(), "eth2").mtu);
}

TEST_P(Mtu, passes_datagrams_of_full_size) {
    const Cabling wires(2, FarSide::lag_switch);
    const TeamUnderTest team(loadbalance(2));
    bring_up(wires, team);
    const auto mtu = GetParam();
    wires.host().ip(fmt::format("link set team0 mtu {}", mtu));
    wires.client().ip(fmt::format("link set client0 mtu {}", mtu));
    ASSERT_TRUE(becomes(mtu, [&] { return look(wires.host(), "eth1").mtu; }));
    ASSERT_TRUE(becomes(mtu, [&] { return look(wires.host(), "eth2").mtu; }));
    constexpr std::size_t headers = 28; // IPv4 and UDP
    const auto before = counters(wires.host(), "team0");
    for (const bool out : {true, false}) {
        Stream stream({.from = out ? &wires.host() : &wires.client(),
                       .to = out ? &wires.client() : &wires.host(),
                       .address = out ? client_v4 : team_v4,
                       .rate = 1'000,
                       .size = mtu - headers});
        EXPECT_TRUE(stream.flows(50));
        stream.stop();
        EXPECT_EQ(0U, stream.tally().lost) << text_of(stream.tally());
    }
    const auto passed = counters(wires.host(), "team0") - before;
    const auto mean_size = passed.tx_bytes / passed.tx_packets;
    EXPECT_NEAR(static_cast<double>(mtu) + 14, static_cast<double>(mean_size), mtu * 0.2 + 14)
        << "datagrams were cut";
}

TEST(Mtu, of_the_inner_end_is_set_again) {
    const Cabling wires(1, FarSide::open);
    const TeamUnderTest team(loadbalance(1));
    bring_up(wires, team);
    if (!exists(wires.host(), "tmo0")) GTEST_SKIP() << "this datapath has no inner end";
    wires.host().ip("link set tmo0 mtu 1400");
    EXPECT_TRUE(becomes(65535U, [&] { return look(wires.host(), "tmo0").mtu; }));
    EXPECT_THAT(team.log(),
                testing::HasSubstr("inner end tmo0: MTU 1400 is not the largest; set to 65535 again"));
}

TEST(Mtu, follows_the_team_on_a_later_port) {
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(loadbalance(1));
    wires.host().ip("link set team0 up mtu 4000");
    ASSERT_EQ(0, team.teamdctl({"port", "add", "eth2"}).status);
    EXPECT_TRUE(becomes(4000U, [&] { return look(wires.host(), "eth2").mtu; }));
    ASSERT_EQ(0, team.teamdctl({"port", "remove", "eth2"}).status);
    EXPECT_TRUE(becomes(1500U, [&] { return look(wires.host(), "eth2").mtu; }));
}

} // namespace
} // namespace teamo::test
