// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/loss_detector.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t ticks_of_window = 8; ///< two seconds
constexpr auto period = 30s;               ///< for ports with little traffic
constexpr auto errors_period = 10s, flaps_period = 60s;
constexpr auto memory = 30s; ///< a finding stays that long without new evidence

// Retransmissions. Congestion loses packets of all ports, and of single flows; a bad link those of all its
// flows, and of no other port.
constexpr std::uint64_t least_again = 20, least_sent = 200;
constexpr double least_ratio = 5; ///< to the other ports
constexpr int least_ticks = 4;    ///< a short burst of losses is none of a bad link
/// Retransmissions of a bucket, for it to tell anything: with TSO a lost packet is dozens of segments.
constexpr double least_expected = 30;

// A port's own counters.
constexpr std::uint64_t least_errors = 10;
constexpr double least_errors_permille = 1;
constexpr std::uint64_t least_flaps = 3;

std::uint64_t rise(std::uint64_t from, std::uint64_t to) { return to < from ? 0 : to - from; }

double permille(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : 1000.0 * static_cast<double>(part) / static_cast<double>(all);
}

/// True if so many segments should have lost some, at that rate.
bool is_significant(std::uint64_t sent, double lost) {
    return static_cast<double>(sent) * lost >= 1000 * least_expected;
}

} // namespace

LossDetector::Segments& LossDetector::Segments::operator+=(const Segments& more) {
    sent += more.sent;
    again += more.again;
    return *this;
}

void LossDetector::add(Window& to, const Window& more) {
    for (std::size_t i = 0; i < bucket_count; ++i)
        to.buckets[i] += more.buckets[i];
    to.owners = more.owners;
    for (const auto& [port, dropped] : more.dropped)
        to.dropped[port] += dropped;
    for (const auto& [port, ticks] : more.lossy_ticks)
        to.lossy_ticks[port] += ticks;
}

template <class Action>
void LossDetector::in_windows(Action action) {
    for (const auto& one : ticks_)
        if (one) action(*one);
    action(period_);
}

LossDetector::Window LossDetector::last_seconds() const {
    Window sum;
    for (const auto& one : ticks_)
        if (one) add(sum, *one);
    return sum;
}

LossDetector::Segments LossDetector::total(const Window& window, Slot slot) {
    Segments sum;
    for (std::size_t i = 0; i < bucket_count; ++i)
        if (window.owners[i] == slot) sum += window.buckets[i];
    return sum;
}

std::optional<LossFinding> LossDetector::by_flows(const Window& window, const LossSample& port,
                                                  std::span<const LossSample> ports) {
    const auto own = total(window, port.slot);
    Segments others;
    for (const auto& other : ports)
        if (other.slot != port.slot && other.carries) others += total(window, other.slot);
    const double lost = permille(own.again, own.sent);
    if (!port.carries || own.again < least_again || lost < port.max_loss || others.sent < least_sent ||
        lost < least_ratio * permille(others.again + 1, others.sent))
        return std::nullopt;
    const auto ticks = window.lossy_ticks.find(port.port);
    if (ticks == window.lossy_ticks.end() || ticks->second < least_ticks) return std::nullopt;
    const auto dropped = window.dropped.find(port.port);
    if (dropped != window.dropped.end() && dropped->second * 2 >= own.again) return std::nullopt;

    LossFinding finding{
        .what = fmt::format(
            "loses packets: {:.1f} % of its TCP segments are sent again, on the other ports {:.1f} %",
            lost / 10, permille(others.again, others.sent) / 10),
        .by_flows = true,
        .lost = lost};
    int telling = 0, hit = 0;
    Segments worst;
    for (std::size_t i = 0; i < bucket_count; ++i) {
        const auto& bucket = window.buckets[i];
        if (window.owners[i] != port.slot || bucket.sent == 0) continue;
        if (bucket.again > 0) finding.buckets.push_back(static_cast<std::uint8_t>(i));
        if (bucket.again > worst.again) worst = bucket;
        if (!is_significant(bucket.sent, lost)) continue;
        ++telling;
        hit += permille(bucket.again, bucket.sent) * 4 >= lost;
    }
    // One slow receiver behind the switch is no bad link: the other flows lose packets too, as far as they
    // sent enough to tell.
    const Segments rest{own.sent - worst.sent, own.again - worst.again};
    if (is_significant(rest.sent, lost) && permille(rest.again, rest.sent) * 4 < lost) return std::nullopt;
    if (hit * 4 < telling * 3) return std::nullopt;
    return finding;
}

std::optional<LossFinding> LossDetector::by_errors(Known& known, const LossSample& port,
                                                   Clock::time_point now) {
    const auto begin = [now](LossSample& sample, Clock::time_point& at, const LossSample& by) {
        sample = by;
        at = now;
    };
    // After a pause of the daemon or the machine the counters cover a longer time than the sentences say.
    constexpr std::chrono::seconds late{2};
    if (now - known.begun_at > errors_period + late) begin(known.begun, known.begun_at, port);
    if (now - known.calm_at > flaps_period + late) begin(known.calm, known.calm_at, port);
    const auto &now_errors = port.errors, &then = known.begun.errors;
    const auto rises = [](std::uint64_t errors, std::uint64_t packets) {
        return errors >= least_errors && permille(errors, errors + packets) >= least_errors_permille;
    };
    const auto sentence = [](std::uint64_t errors, std::string_view counter) {
        return fmt::format("{} has risen by {} within 10 seconds", counter, errors);
    };
    const auto rx = rise(then.rx_packets, now_errors.rx_packets),
               tx = rise(then.tx_packets, now_errors.tx_packets);
    std::optional<LossFinding> found;
    if (const auto count = rise(then.rx_crc, now_errors.rx_crc); rises(count, rx))
        found = LossFinding{.what = sentence(count, "rx_crc_errors") + ": check cable, plug and transceiver"};
    else if (const auto failed = rise(then.tx, now_errors.tx); rises(failed, tx))
        found = LossFinding{.what = sentence(failed, "tx_errors")};
    else if (const auto missed = rise(then.rx_missed, now_errors.rx_missed); rises(missed, rx))
        found = LossFinding{.what = sentence(missed, "rx_missed_errors") +
                                    ": the host takes packets too slowly (ethtool -G, interrupt CPUs)",
                            .helps = false};
    if (found || now - known.begun_at >= errors_period) begin(known.begun, known.begun_at, port);
    if (found) return found;
    if (const auto flaps = rise(known.calm.carrier_losses, port.carrier_losses); flaps >= least_flaps)
        found = LossFinding{.what = fmt::format("its link was lost {} times within a minute", flaps)};
    if (found || now - known.calm_at >= flaps_period) begin(known.calm, known.calm_at, port);
    return found;
}

void LossDetector::step(std::span<const LossSample> ports, const AllBucketCounters* counters,
                        const std::array<Slot, bucket_count>& owners, Clock::time_point now) {
    std::erase_if(known_, [&](const auto& entry) {
        return std::ranges::find(ports, entry.first, &LossSample::port) == ports.end();
    });
    Window latest{.owners = owners};
    bool is_quiet = true;
    if (counters != nullptr) {
        const auto before = std::exchange(last_, std::vector<Segments>(bucket_count));
        for (std::size_t i = 0; i < bucket_count; ++i) {
            last_[i] = {(*counters)[i].tcp_segments, (*counters)[i].tcp_again};
            if (before.empty()) continue;
            latest.buckets[i] = {rise(before[i].sent, last_[i].sent), rise(before[i].again, last_[i].again)};
            is_quiet = is_quiet && latest.buckets[i].sent == 0 && latest.buckets[i].again == 0;
        }
    }
    for (const auto& port : ports) {
        const auto [entry, is_new] = known_.try_emplace(port.port);
        auto& known = entry->second;
        if (is_new) known = {.last = port, .begun = port, .begun_at = now, .calm = port, .calm_at = now};
        const auto dropped = rise(known.last.queue_dropped, port.queue_dropped);
        latest.dropped[port.port] = dropped;
        is_quiet = is_quiet && dropped == 0;
        known.last = port;
        if (total(latest, port.slot).again > 0) latest.lossy_ticks[port.port] = 1;
    }
    // What a bucket lost before it moved says nothing about its new port.
    if (std::exchange(owners_, owners) != owners)
        in_windows([&owners](Window& window) {
            for (std::size_t i = 0; i < bucket_count; ++i)
                if (window.owners[i] != owners[i]) window.buckets[i] = {};
        });
    add(period_, latest);
    ticks_.push_back(is_quiet ? nullptr : std::make_unique<Window>(std::move(latest)));
    if (ticks_.size() > ticks_of_window) ticks_.pop_front();
    const bool period_ends = now - period_began_ >= period;
    const auto recent = last_seconds();
    for (const auto& port : ports) {
        auto& known = known_[port.port];
        auto found = by_flows(recent, port, ports);
        known.times = found ? known.times + 1 : 0;
        if (found && known.times < 2) found.reset();
        if (!found && period_ends) found = by_flows(period_, port, ports);
        auto own = by_errors(known, port, now); // always: it keeps its periods
        if (!found) found = std::move(own);
        if (found) {
            known.finding = std::move(found);
            known.found_at = now;
        } else if (known.finding && now - known.found_at >= memory) {
            known.finding.reset();
        }
    }
    if (period_ends) {
        period_ = {.owners = owners};
        period_began_ = now;
    }
}

const LossFinding* LossDetector::finding(IfIndex port) const {
    const auto found = known_.find(port);
    return found == known_.end() || !found->second.finding ? nullptr : &*found->second.finding;
}

std::optional<double> LossDetector::lost_by(std::span<const std::uint8_t> buckets) const {
    const auto lost_in = [buckets](const Window& window) -> std::optional<double> {
        Segments sum, all;
        for (const auto& bucket : window.buckets)
            all += bucket;
        for (const auto bucket : buckets)
            sum += window.buckets[bucket];
        const double lost = permille(sum.again, sum.sent),
                     others = permille(all.again - sum.again, all.sent - sum.sent);
        constexpr double many = 3;
        return sum.sent < least_sent || lost < many * others ? std::nullopt : std::optional(lost);
    };
    const auto recently = lost_in(last_seconds());
    return recently ? recently : lost_in(period_); // a slow flow takes longer to tell
}

std::optional<double> LossDetector::lost_by(IfIndex port) const {
    const auto known = known_.find(port);
    if (known == known_.end()) return std::nullopt;
    const auto sum = total(last_seconds(), known->second.last.slot);
    return sum.sent < least_sent ? std::nullopt : std::optional(permille(sum.again, sum.sent));
}

void LossDetector::forget(IfIndex port) {
    const auto found = known_.find(port);
    if (found == known_.end()) return;
    const auto slot = found->second.last.slot;
    known_.erase(found);
    in_windows([slot, port](Window& window) {
        for (std::size_t i = 0; i < bucket_count; ++i)
            if (window.owners[i] == slot) window.buckets[i] = {};
        window.lossy_ticks.erase(port);
        window.dropped.erase(port);
    });
}

} // namespace teamo
