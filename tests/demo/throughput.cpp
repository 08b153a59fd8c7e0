// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/throughput.h"

#include "demo/transfer.h"
#include "support/figure.h"

#include <algorithm>

namespace teamo::demo {
namespace {

using namespace std::chrono_literals;
using test::median;

/// Measures each cable alone, with the other three pulled; returns the sum.
double single_ports(const Report& report, const Stage& stage, unsigned count) {
    report.step(fmt::format("{} of {} cables alone, the other three pulled; TCP reaches at most 956 Mbit/s "
                            "on 1 Gbit/s",
                            count, cables));
    double sum = 0;
    for (unsigned alone = 1; alone <= count; ++alone) {
        for (unsigned other = 1; other <= cables; ++other)
            if (other != alone) stage.pull(other);
        stage.await_carrying(1);
        const auto one = transfer(stage, 2s);
        report.step(fmt::format("{} alone: {:.0f} Mbit/s to eight clients (iperf3 reports {:.0f})",
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

void judge(Report& report, const OtherLoad& others, double single, const Compared& kept,
           const Compared& taken) {
    const auto sum = median(kept.megabits);
    const auto with = median(kept.cpu_per_kb), without = median(taken.cpu_per_kb);
    // On busy CPUs, and if the machine pauses, each of the four sends less, but all of them send. If one did
    // not, the team would have three quarters.
    const bool by_all_four = std::ranges::min(kept.least_share) >= 0.5 / cables;
    const auto slower = others.excuse().empty() ? "this machine pauses or is busy" : others.excuse();
    report.expect("throughput of four ports as one",
                  fmt::format("{:.0f} Mbit/s, {:.1f} %", sum, 100 * sum / single),
                  fmt::format(">= 95 % of {:.0f}, sum of single ports", single),
                  {.kept = sum >= 0.95 * single, .excuse = by_all_four && sum >= 0.5 * single ? slower : ""});
    report.expect("bytes per transmitted skb, with TSO", fmt::format("{:.0f}", median(kept.bytes_per_skb)),
                  ">= 20480", {.kept = median(kept.bytes_per_skb) >= 20'480});
    report.expect("bytes per transmitted skb, without TSO",
                  fmt::format("{:.0f}", median(taken.bytes_per_skb)), "<= 1514, one frame",
                  {.kept = median(taken.bytes_per_skb) <= 1'514});
    // On a quiet machine runs differ by less than 10 %. If no CPU is idle, both cost all CPU time and show no
    // gain.
    report.expect("CPU per KiB, with TSO",
                  fmt::format("{:.2f} us, {:.0f} % less", with, 100 * (1 - with / without)),
                  fmt::format("10 % below {:.2f} us, without TSO", without),
                  {.kept = with <= 0.9 * without, .excuse = others.excuse()});
}

} // namespace

void show_throughput(Report& report, OtherLoad& others, const Stage& stage, const ThroughputLength& length) {
    const auto single = single_ports(report, stage, length.alone);
    report.step(
        "the team with and without TSO in turn (\"offload\": {\"tso\": \"off\"} for its four ports);");
    report.step("CPU time is that of the whole machine, so of both ends, per 1,024 bytes");
    Compared kept, taken;
    for (int round = 0; round < length.rounds; ++round)
        for (const bool tso : {true, false}) {
            stage.keep_tso(tso);
            const auto one = transfer(stage, 2s);
            (tso ? kept : taken).add(one);
            report.step(fmt::format("team0 {}: {:.0f} Mbit/s to eight clients (iperf3 reports {:.0f}), "
                                    "{:.0f} bytes per skb, {:.2f} us of CPU per KiB",
                                    tso ? "with TSO   " : "without TSO", one.megabits, one.iperf3_megabits,
                                    one.bytes_per_skb, one.cpu_per_kb));
        }
    stage.keep_tso(true);
    others.look(report);
    judge(report, others, single, kept, taken);
}

} // namespace teamo::demo
