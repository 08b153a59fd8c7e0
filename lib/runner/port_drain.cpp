// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/port_drain.h"

#include <cmath>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Longer than a card needs for its ring: 4096 frames of 1500 bytes take 50 ms at 1 Gbit/s.
constexpr auto ring_time = 200ms;
constexpr auto second = 1s;

/// At most.
std::uint64_t probes_in(Clock::duration time, const Drain::View& seen) {
    if (seen.probes_per_second == 0) return 0;
    return 1 +
           static_cast<std::uint64_t>(seen.probes_per_second * std::chrono::duration<double>(time).count());
}

/// Frames of LLDP, spanning tree and LACP, and answers to its own probes: the port may receive so many in a
/// second.
std::uint64_t of_the_link(const Drain::View& seen) {
    constexpr std::uint64_t of_protocols = 3;
    return of_protocols + probes_in(second, seen);
}

} // namespace

/// Another device or another program may count from zero.
void Drain::count(const View& seen, Clock::time_point now) {
    // The programs count no probes; a kernel's driver does.
    if (!begun_ || seen.sent < sent_ || seen.sent - sent_ > probes_in(now - still_since_, seen) ||
        seen.backlog != 0) {
        still_since_ = now;
        sent_ = seen.sent;
    }
    if (!begun_ || seen.received < received_) {
        received_ = seen.received;
        counted_from_ = now;
    }
    begun_ = true;
    if (now - counted_from_ < second) return;
    const auto passed = std::chrono::duration<double>(now - counted_from_).count();
    rate_ = static_cast<std::uint64_t>(std::llround(static_cast<double>(seen.received - received_) / passed));
    is_silent_ = rate_ <= of_the_link(seen);
    received_ = seen.received;
    counted_from_ = now;
}

DrainPhase Drain::next(const View& seen, Clock::time_point now) const {
    if (seen.carries) return DrainPhase::moving;
    switch (phase_) {
    case DrainPhase::moving: return DrainPhase::emptying;
    case DrainPhase::emptying: return now - still_since_ < ring_time ? phase_ : DrainPhase::telling;
    case DrainPhase::telling: return seen.partner_sends ? phase_ : DrainPhase::receiving;
    case DrainPhase::receiving: return is_silent_ || seen.stands_by ? DrainPhase::drained : phase_;
    case DrainPhase::drained:
        return rate_ > of_the_link(seen) && !seen.stands_by ? DrainPhase::receiving : phase_;
    case DrainPhase::none: break;
    }
    return phase_;
}

bool Drain::step(const View& seen, Clock::time_point now) {
    const auto before = phase_;
    count(seen, now);
    for (auto phase = next(seen, now); phase != phase_; phase = next(seen, now)) {
        phase_ = phase;
        // Silence counts from here on.
        if (phase == DrainPhase::emptying) still_since_ = now;
        if (phase == DrainPhase::receiving) {
            received_ = seen.received;
            counted_from_ = now;
        }
        is_silent_ = false;
    }
    return phase_ != before;
}

Clock::time_point Drain::deadline() const {
    return phase_ == DrainPhase::emptying ? still_since_ + ring_time : counted_from_ + second;
}

} // namespace teamo
