// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/failover.h"

#include "demo/link_news.h"
#include "support/figure.h"
#include "support/net/network_lock.h"

#include <algorithm>

namespace teamo::demo {
namespace {

using namespace std::chrono_literals;
using test::Cabling;
using test::median;
using test::Stream;

constexpr unsigned pull_rate = 10'000; ///< packets per second

/// One cable pulled under traffic and plugged in again. The numbers count packets of the stream.
struct Pull {
    unsigned port = 0, taken_over_by = 0;
    std::uint64_t first = 0;   ///< sent when the cable was pulled
    std::uint64_t event = 0;   ///< sent when the kernel reported it
    std::uint64_t between = 0; ///< sent when the cable was plugged in; another port already carried
    std::uint64_t end = 0;     ///< sent at the end
};

/// Pulls the cable that carries the stream, and plugs it in again.
Pull pull_cable(const Stage& stage, const Stream& stream) {
    Pull pull{.port = stage.busiest_port(50ms)};
    {
        const auto still = stage.hold_far_end();
        // If other programs hold the lock all the time, the losses in the table show it.
        (void)test::await_free_network_lock(5s);
        const CarrierLossListener loss_event(stage.host(), stage.index_of(pull.port), stream);
        pull.first = stream.next();
        stage.pull(pull.port);
        (void)stream.flows(pull_rate / 10); // if nothing arrives any more, the losses show it
        (void)test::eventually("the kernel's event",
                               [&loss_event] { return loss_event.received_at().has_value(); });
        pull.event = loss_event.received_at().value_or(pull.first);
    }
    stage.await_carrying(cables - 1);
    pull.taken_over_by = stage.busiest_port(50ms);
    pull.between = stream.next();
    stage.plug(pull.port);
    stage.await_carrying(cables);
    (void)stream.flows(pull_rate / 10);
    pull.end = stream.next();
    return pull;
}

std::string loss(double packets) {
    return fmt::format("{:.0f} packets, {:.1f} ms", packets, 1000.0 * packets / pull_rate);
}

struct Losses {
    std::vector<double> by_pull;
    std::vector<double> before_event, after_event; ///< parts of it, before and after the kernel's link event
    std::vector<double> by_plug;

    void add(const Stream& stream, const Pull& pull) {
        const auto lost = [&](std::uint64_t from, std::uint64_t to) {
            return static_cast<double>(stream.tally(from, std::max(from, to)).lost);
        };
        by_pull.push_back(lost(pull.first, pull.between));
        after_event.push_back(lost(pull.event, pull.between));
        before_event.push_back(by_pull.back() - after_event.back());
        by_plug.push_back(lost(pull.between, pull.end));
    }
};

/// How many pulls lost more than this many packets.
long over(const std::vector<double>& losses, double packets) {
    return std::ranges::count_if(losses, [packets](double lost) { return lost > packets; });
}

/// Why a few pulls may lose too many packets without a defect: other load, or CPUs that stall (virtual
/// machine).
std::string excuse_for(long bad, std::size_t pulls, const OtherLoad& others) {
    if (const auto busy = others.excuse(); !busy.empty()) return busy;
    const auto few = static_cast<long>(pulls) / 8;
    return bad <= few ? fmt::format("{} of {} pulls only", bad, pulls) : "";
}

std::string slow_kernel(double packets) {
    return fmt::format("this kernel reports {:.1f} ms late", 1000.0 * packets / pull_rate);
}

/// The loss that other load cannot explain, in packets.
double longest(const OtherLoad& others) { return others.excuse().empty() ? 100 : 1'000; }

/// Losses before the kernel's event depend on the machine, up to longest(). Losses after it are the daemon's:
/// if it polled every 10 ms, it would lose 50 packets.
void judge_median(Report& report, const OtherLoad& others, const Losses& lost) {
    const auto all = median(lost.by_pull), own = median(lost.after_event);
    report.expect(
        "lost by pulling a cable, median", loss(all), "<= 10 packets, 1.0 ms",
        {.kept = all <= 10,
         .excuse = all <= longest(others) && own <= 10 ? slow_kernel(median(lost.before_event)) : ""});
    report.expect("of these after the kernel's event, median", loss(own), "<= 10 packets, 1.0 ms",
                  {.kept = own <= 10});
}

void judge_worst(Report& report, const OtherLoad& others, const Losses& lost) {
    const auto all = std::ranges::max(lost.by_pull), own = std::ranges::max(lost.after_event);
    const auto bad = over(lost.after_event, 100);
    std::string excuse;
    if (bad == 0)
        excuse = slow_kernel(std::ranges::max(lost.before_event));
    else if (own <= 1'000)
        excuse = excuse_for(bad, lost.by_pull.size(), others);
    report.expect(fmt::format("lost by pulling a cable, worst of {}", lost.by_pull.size()), loss(all),
                  "<= 100 packets, 10.0 ms", {.kept = all <= 100, .excuse = excuse});
}

/// A defect would lose packets at most plugs.
void judge_plugs(Report& report, const OtherLoad& others, const Losses& lost) {
    const auto worst = std::ranges::max(lost.by_plug);
    const bool rarely = median(lost.by_plug) <= 10 && worst <= longest(others);
    report.expect("lost by plugging it in, worst", loss(worst), "<= 10 packets, 1.0 ms",
                  {.kept = worst <= 10,
                   .excuse = rarely ? excuse_for(over(lost.by_plug, 10), lost.by_plug.size(), others) : ""});
}

/// If the kernel reports late, a daemon that polls loses no more than one that waits for events; but it wakes
/// up while idle.
void judge_sleep(Report& report, const Stage& stage) {
    constexpr auto time = 1s;
    const auto before = stage.daemon_sleeps();
    std::this_thread::sleep_for(time);
    const auto times = stage.daemon_sleeps() - before;
    report.expect("daemon wake-ups while idle", fmt::format("{} per second", times),
                  "<= 10, events, no polling", {.kept = times <= 10});
}

/// Pulls the cable to one client several times.
void pull_cables_to(const Report& report, const Stage& stage, unsigned client, unsigned times,
                    Losses& losses) {
    Stream stream({.from = &stage.host(),
                   .to = &stage.client(client),
                   .address = Stage::address_of(client),
                   .rate = pull_rate});
    std::vector<Pull> pulls;
    for (unsigned count = 0; count < times; ++count)
        pulls.push_back(pull_cable(stage, stream));
    stream.stop();
    for (const auto& pull : pulls) {
        losses.add(stream, pull);
        report.step(fmt::format("to client {}: {} pulled, {} takes over: lost {}, {:.0f} of them after the "
                                "kernel's event; plugged in: lost {:.0f}; {} of {} ports up",
                                client + 1, Cabling::port(pull.port), Cabling::port(pull.taken_over_by),
                                loss(losses.by_pull.back()), losses.after_event.back(), losses.by_plug.back(),
                                cables, cables));
    }
}

} // namespace

void show_failover(Report& report, OtherLoad& others, const Stage& stage, const FailoverLength& length) {
    report.step(fmt::format("pulling cables under {} packets per second; each lost packet is {:.1f} ms",
                            pull_rate, 1000.0 / pull_rate));
    judge_sleep(report, stage);
    Losses losses;
    for (unsigned client = 0; client < length.clients; ++client)
        pull_cables_to(report, stage, client, length.pulls, losses);
    others.look(report);
    judge_median(report, others, losses);
    judge_worst(report, others, losses);
    judge_plugs(report, others, losses);
}

} // namespace teamo::demo
