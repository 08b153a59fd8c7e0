// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/throughput.h"

#include "demo/transfer.h"
#include "support/figure.h"

#include <algorithm>

namespace teamo::demo {
namespace {

using namespace std::chrono_literals;
using test::median;

/// Each cable alone, the other three pulled: what the aggregate is made of.
double single_ports(const Report& report, const Stage& stage, unsigned count) {
    report.step(fmt::format("{} of {} cables each alone, the other three pulled; TCP makes at most 956 "
                            "Mbit/s of 1 Gbit/s",
                            count, cables));
    double sum = 0;
    for (unsigned alone = 1; alone <= count; ++alone) {
        for (unsigned other = 1; other <= cables; ++other)
            if (other != alone) stage.pull(other);
        stage.await_carrying(1);
        const auto one = transfer(stage, 2s);
        report.step(fmt::format("{} alone: {:.0f} Mbit/s to eight clients (by iperf3's own times {:.0f})",
                                test::Cabling::port(alone), one.megabits, one.iperf3_megabits));
        sum += one.megabits;
        for (unsigned other = 1; other <= cables; ++other)
            if (other != alone) stage.plug(other);
        stage.await_carrying(cables);
    }
    return sum * cables / count;
}

struct Compared {
    std::vector<double> megabits, least_share, bytes_per_skb, cpu_per_kb;
    void add(const Transfer& one) {
        megabits.push_back(one.megabits);
        least_share.push_back(one.least_share);
        bytes_per_skb.push_back(one.bytes_per_skb);
        cpu_per_kb.push_back(one.cpu_per_kb);
    }
};

void judge(Report& report, const OtherWork& others, double single, const Compared& kept,
           const Compared& taken) {
    const auto sum = median(kept.megabits);
    const auto with = median(kept.cpu_per_kb), without = median(taken.cpu_per_kb);
    // Where CPUs are short each of the four sends less, and none sends nothing.
    const bool by_all_four = std::ranges::min(kept.least_share) >= 0.5 / cables;
    report.expect("four ports carried as one",
                  fmt::format("{:.0f} Mbit/s, {:.1f} %", sum, 100 * sum / single),
                  fmt::format(">= 95 % of {:.0f}, the single ports' sum", single),
                  {.kept = sum >= 0.95 * single, .excuse = by_all_four ? others.excuse() : ""});
    report.expect("bytes per transmitted skb, TSO kept", fmt::format("{:.0f}", median(kept.bytes_per_skb)),
                  ">= 20480", {.kept = median(kept.bytes_per_skb) >= 20'480});
    report.expect("bytes per transmitted skb, TSO taken away",
                  fmt::format("{:.0f}", median(taken.bytes_per_skb)), "<= 1514, a frame's",
                  {.kept = median(taken.bytes_per_skb) <= 1'514});
    // Quiet runs repeat within 10 %. Where others leave no CPU idle, both ways cost all there is: no gain
    // seen.
    report.expect("CPU per KB, TSO kept",
                  fmt::format("{:.2f} us, {:.0f} % less", with, 100 * (1 - with / without)),
                  fmt::format("10 % below {:.2f} us, TSO taken away", without),
                  {.kept = with <= 0.9 * without, .excuse = others.excuse()});
}

} // namespace

void show_throughput(Report& report, OtherWork& others, const Stage& stage, const ThroughputLength& length) {
    const auto single = single_ports(report, stage, length.alone);
    report.step(
        "the team, TSO kept and taken away in turn (\"offload\": {\"tso\": \"off\"} for its four ports);");
    report.step("CPU is the whole machine's, so both ends', over 1,024 bytes");
    Compared kept, taken;
    for (int round = 0; round < length.rounds; ++round)
        for (const bool tso : {true, false}) {
            stage.keep_tso(tso);
            const auto one = transfer(stage, 2s);
            (tso ? kept : taken).add(one);
            report.step(
                fmt::format("team0 {}: {:.0f} Mbit/s to eight clients (by iperf3's own times {:.0f}), "
                            "{:.0f} bytes an skb, {:.2f} us of CPU a KB",
                            tso ? "with TSO   " : "without TSO", one.megabits, one.iperf3_megabits,
                            one.bytes_per_skb, one.cpu_per_kb));
        }
    stage.keep_tso(true);
    others.look(report);
    judge(report, others, single, kept, taken);
}

} // namespace teamo::demo
