// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The benefit of measured balancing on real connections, by the counters of the far ends.
#include "netns/balance/balance_state.h"
#include "netns/configs.h"
#include "support/figure.h"
#include "support/net/world.h"
#include "support/traffic/cpu_meter.h"
#include "support/traffic/flows.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace teamo::test {
namespace {

/// Bytes that the far ends have received, by port.
std::vector<double> arrived(const Cabling& wires) {
    std::vector<double> bytes;
    for (unsigned number = 1; number <= wires.ports(); ++number)
        bytes.push_back(static_cast<double>(counters(wires.peer(), Cabling::far_end(number)).rx_bytes));
    return bytes;
}

std::vector<double> operator-(std::vector<double> later, const std::vector<double>& earlier) {
    for (std::size_t index = 0; index < later.size(); ++index)
        later[index] -= earlier[index];
    return later;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::string in_mbits(const std::vector<double>& bytes, double seconds) {
    std::string text;
    for (const auto one : bytes)
        text += fmt::format("{}{:.0f}", text.empty() ? "" : " ", one * 8 / 1e6 / seconds);
    return text;
}

/// Waits until no bucket has moved for two seconds, at most 30 s.
void await_rest(const TeamUnderTest& team) {
    std::size_t ended = 0;
    auto since_last = SteadyClock::now();
    static_cast<void>(eventually(
        "",
        [&] {
            std::this_thread::sleep_for(200ms);
            const auto state = balance_of(team);
            if (state.ends.size() != ended || state.pending > 0) since_last = SteadyClock::now();
            ended = state.ends.size();
            return since(since_last) > 2s;
        },
        30s));
}

// ---- two of four ports without TSO -----------------------------------------------------------

constexpr unsigned bulk_flows = 8, request_flows = 200;
constexpr double bulk_rate = 37.5e6; // bytes/s each
constexpr auto period = 5s;

std::string poor_config(bool aware) {
    return team_config(R"({"name": "loadbalance", "tx_hash": ["ipv4", "l4"],
                           "tx_balancer": {"name": "basic", "balancing_interval": 5}})",
                       R"({"eth1": {}, "eth2": {}, "eth3": {"offload": {"tso": "off"}},
                           "eth4": {"offload": {"tso": "off"}}})",
                       fmt::format(R"("balance": {{"aware": {}}}, )", aware));
}

struct Run {
    double capable = 0;    ///< share of the bytes that arrived by the TSO ports eth1 and eth2
    double off_plan = 0;   ///< largest difference between a port's planned and actual share of its capacity
    double per_kb = 0;     ///< microseconds of CPU for each KiB that arrived
    double rate = 0;       ///< bytes/s
    double per_packet = 0; ///< bytes of each packet that left by the capable ports
};

Run run_with(const Cabling& wires, bool aware) {
    TeamUnderTest team(poor_config(aware));
    bring_up(wires, team);
    if (!reaches(wires.host(), client_v4)) throw SetupError("the client does not answer");
    const BulkFlows bulk({.from = &wires.host(),
                          .to = &wires.client(),
                          .address = client_v4,
                          .rates = std::vector<double>(bulk_flows, bulk_rate)});
    const RequestFlows requests(wires.host(), wires.client(), client_v4, request_flows, 4000);
    await_rest(team);
    const auto planned = balance_of(team).planned;
    const auto before = arrived(wires);
    const auto sent_before = counters(wires.host(), "eth1");
    const CpuMeter cpu;
    const auto start = SteadyClock::now();
    std::this_thread::sleep_for(period);
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
    const auto busy = cpu.busy();
    const auto bytes = arrived(wires) - before;
    const auto sent = counters(wires.host(), "eth1") - sent_before;
    Run run{.capable = (bytes[0] + bytes[1]) / sum(bytes),
            .per_kb = static_cast<double>(busy.count()) / (sum(bytes) / 1024),
            .rate = sum(bytes) / seconds,
            .per_packet = static_cast<double>(sent.tx_bytes) / static_cast<double>(sent.tx_packets)};
    constexpr double capacity = 1.25e9; // a veth reports 10 Gbit/s
    for (unsigned number = 1; number <= 4; ++number)
        run.off_plan =
            std::max(run.off_plan,
                     std::abs(bytes[number - 1] / seconds - planned.at(Cabling::port(number))) / capacity);
    fmt::print(
        "aware {}: {} Mbit/s by port, {:.1f} % by TSO ports, {:.3f} us per KiB, {:.0f} bytes per packet "
        "on eth1, {:.3f} off the plan, {} answers\n",
        aware, in_mbits(bytes, seconds), run.capable * 100, run.per_kb, run.per_packet, run.off_plan,
        requests.answered());
    if (team.stop() != 0) throw SetupError("the daemon does not stop");
    return run;
}

/// CPU usage of other programs, in CPUs, while this test is idle.
double taken_by_others() {
    const CpuMeter cpu;
    std::this_thread::sleep_for(1s);
    return std::chrono::duration<double>(cpu.busy()).count();
}

Run expect_as_planned(const Cabling& wires) {
    const auto run = run_with(wires, /*aware=*/true);
    EXPECT_TRUE(at_least("share of the TSO ports", run.capable, {.promised = 0.95, .defect = 0.8}));
    EXPECT_TRUE(at_most("difference from the plan", run.off_plan, {.promised = 0.10, .defect = 0.25}));
    return run;
}

/// The CPU time is that of the whole machine, so it is only reported; the shares decide.
void expect_a_quarter_saved(const Cabling& wires) {
    fmt::print("other programs use {:.0f} % of a CPU\n", taken_by_others() * 100);
    std::vector<double> aware, unaware;
    for (int round = 0; round < 3; ++round) {
        aware.push_back(expect_as_planned(wires).per_kb);
        unaware.push_back(run_with(wires, /*aware=*/false).per_kb);
    }
    const double ratio = median(aware) / median(unaware);
    fmt::print("CPU per KiB: {:.3f}, without balancing by TSO {:.3f} (medians of 3)\n", median(aware),
               median(unaware));
    testing::Test::RecordProperty("ratio_percent", static_cast<int>(ratio * 100));
    EXPECT_TRUE(at_most("CPU per KiB, ratio", ratio, {.promised = 0.75, .defect = 0.85}));
}

TEST(Balance, puts_bulk_on_tso_ports_and_saves_cpu) {
    const Cabling wires(4, FarSide::lag_switch);
    if (promises_enforced())
        expect_a_quarter_saved(wires);
    else
        expect_as_planned(wires);
}

// ---- flows whose sizes follow Zipf's law, over shaped ports -----------------------------------

void expect_even_leaving(unsigned ports) {
    constexpr unsigned flows = 400;
    constexpr double exponent = 0.8, port_rate = 25e6; // bytes/s: 200 Mbit/s each
    const Cabling wires(ports, FarSide::lag_switch);
    const TeamUnderTest team(team_config(
        R"({"name": "loadbalance", "tx_hash": ["ipv4", "l4"],
            "tx_balancer": {"name": "basic", "balancing_interval": 10}})",
        ports_object(ports)));
    bring_up(wires, team);
    if (!reaches(wires.host(), client_v4)) throw SetupError("the client does not answer");
    for (unsigned number = 1; number <= ports; ++number)
        must(wires.host(), fmt::format("tc qdisc replace dev {} root tbf rate 200mbit burst 64k limit 4m",
                                       Cabling::port(number)));
    std::vector<double> rates;
    for (unsigned rank = 1; rank <= flows; ++rank)
        rates.push_back(std::pow(rank, -exponent));
    const double all = sum(rates);
    for (auto& rate : rates)
        rate *= 0.6 * port_rate * ports / all;
    const auto fullest_over_mean = [&](std::chrono::seconds time) {
        const auto before = arrived(wires);
        std::this_thread::sleep_for(time);
        const auto bytes = arrived(wires) - before;
        return std::pair(std::ranges::max(bytes) / (sum(bytes) / ports),
                         in_mbits(bytes, static_cast<double>(time.count())));
    };

    const BulkFlows bulk(
        {.from = &wires.host(), .to = &wires.client(), .address = client_v4, .rates = rates});
    const auto hashed = fullest_over_mean(1s);
    fmt::print("{} ports: fullest over mean {:.3f} at first ({} Mbit/s)\n", ports, hashed.first,
               hashed.second);
    std::pair<double, std::string> measured;
    BalanceState state;
    Bounds bounds;
    // While a machine stalls, the rates are not those of the flows, and buckets move once more: that the team
    // is uneven once is no defect.
    for (int left = rounds({.shown = 3, .measured = 1}); left > 0; --left) {
        await_rest(team);
        measured = fullest_over_mean(promises_enforced() ? 10s : 5s);
        state = balance_of(team);
        const double fullest_bucket =
            state.busiest.empty() ? 0 : state.bytes[state.busiest.front()] / (sum(state.bytes) / ports);
        fmt::print("{:.3f} once measured ({} Mbit/s); the fullest bucket has {:.2f} of a port's share\n",
                   measured.first, measured.second, fullest_bucket);
        const double least = std::max(1.0, fullest_bucket); // a port always keeps at least one bucket
        bounds = {.promised = 1.05 * least, .defect = 1.15 * least};
        if (measured.first <= bounds.defect) break;
    }
    testing::Test::RecordProperty(fmt::format("fullest_over_mean_percent_of_{}_ports", ports),
                                  static_cast<int>(measured.first * 100));
    std::string moves;
    for (const auto& move : state.moves)
        moves += fmt::format("\nbucket {} {} to {}, {}, {} after {} ms, gain {:.1f} %", move.bucket,
                             move.from, move.to, move.reason, move.end, move.waited.count(), move.gain);
    EXPECT_TRUE(at_most("highest load to mean, ratio", measured.first, bounds)) << "moves:" << moves;
}

TEST(Balance, spreads_zipf_flows) {
    for (const auto ports : promises_enforced() ? std::vector{2U, 4U, 8U} : std::vector{8U}) {
        expect_even_leaving(ports);
        furnish_world();
    }
}

} // namespace
} // namespace teamo::test
