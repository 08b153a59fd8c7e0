// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How even the load of a bond of another program is once the daemon balances it: TCP connections whose rates
// follow Zipf's law.
//
// lab: *AttachedLoad.* in -k newest -p 2, compare
#include "lab/bonds.h"
#include "lab/guest.h"
#include "support/daemon/team_under_test.h"
#include "support/traffic/flows.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace teamo::test {
namespace {

constexpr unsigned flows = 300;
constexpr double exponent = 0.8, all_rates = 6e6; // bytes/s

std::vector<double> zipf_rates() {
    std::vector<double> rates;
    for (unsigned rank = 1; rank <= flows; ++rank)
        rates.push_back(std::pow(rank, -exponent));
    const double all = std::accumulate(rates.begin(), rates.end(), 0.0);
    for (auto& rate : rates)
        rate *= all_rates / all;
    return rates;
}

/// The load of the fullest slave to the mean, over that time.
double fullest_over_mean(std::chrono::seconds time) {
    std::array<std::uint64_t, Bonded::slaves> sent{};
    const auto read = [](unsigned number) {
        return counters(NetNs::current(), fmt::format("p{}", number)).tx_bytes;
    };
    for (unsigned number = 0; number < sent.size(); ++number)
        sent[number] = read(number);
    std::this_thread::sleep_for(time);
    for (unsigned number = 0; number < sent.size(); ++number)
        sent[number] = read(number) - sent[number];
    const auto all = std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
    return static_cast<double>(std::ranges::max(sent)) * Bonded::slaves / static_cast<double>(all);
}

class AttachedLoad : public testing::TestWithParam<const char*> {};

TEST_P(AttachedLoad, is_balanced) {
    const Bonded bonded(GetParam(), "layer3+4");
    const BulkFlows bulk(
        {.from = &bonded.here(), .to = &bonded.far(), .address = far_address, .rates = zipf_rates()});
    const auto alone = fullest_over_mean(10s);
    TeamUnderTest team(R"({"device": "bond0", "attach": true, "balance": {"interval": 2000}})", {}, "bond0");
    ASSERT_TRUE(team.await_item("attached.steered", "true"));
    std::vector<double> rounds;
    while (rounds.size() < 12 && (rounds.empty() || rounds.back() > 1.05))
        rounds.push_back(fullest_over_mean(10s));
    fmt::print("{}: fullest slave over mean {:.3f} by bonding, then {:.3f}\n", GetParam(), alone,
               fmt::join(rounds, " "));
    EXPECT_GE(1.05, rounds.back());
    EXPECT_EQ(0, team.stop());
}

INSTANTIATE_TEST_SUITE_P(In, AttachedLoad, testing::Values("802.3ad", "balance-xor"),
                         [](const auto& mode) { return mode.param[0] == '8' ? "lacp" : "xor"; });

} // namespace
} // namespace teamo::test
