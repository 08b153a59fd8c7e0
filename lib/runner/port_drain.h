// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a port is drained: which phase follows which, and when. A value: what is seen of the port and the time
// in, the phase out. docs/adr/0043.
//
// No packet is lost if each side receives until the other has stopped. So first the packets that we send move
// to other ports, then the queue empties; only then is the LACP partner told to stop, and what it still sends
// is received until it has.
#pragma once

#include "base/clock.h"
#include "model/drain.h"

namespace teamo {

class Drain {
public:
    /// What the daemon sees of the port.
    struct View {
        bool carries = false;      ///< packets are given to it: some bucket leaves by it, or it transmits
        std::uint64_t backlog = 0; ///< bytes in its queue
        std::uint64_t sent = 0, received = 0; ///< frames
        bool partner_sends = false;           ///< lacp: its partner distributes
        double probes_per_second = 0; ///< of its own link watches: it sends them, and receives answers
        /// A port that stands by in an activebackup team receives what its switch floods, and need not wait
        /// until that ends. Nor need one of a team by source address.
        bool stands_by = false;
    };

    /// `phase`: that of an earlier daemon, or DrainPhase::moving.
    explicit Drain(DrainPhase phase) : phase_(phase) {}

    /// True: the phase has changed. Call it when something of the view has, and at deadline().
    bool step(const View& seen, Clock::time_point now);

    DrainPhase phase() const { return phase_; }
    std::uint64_t received_per_second() const { return rate_; }
    Clock::time_point deadline() const;

private:
    DrainPhase next(const View& seen, Clock::time_point now) const;
    void count(const View& seen, Clock::time_point now);

    DrainPhase phase_;
    bool begun_ = false;
    std::uint64_t sent_ = 0;           ///< at still_since_
    Clock::time_point still_since_{};  ///< it has sent nothing but probes, and its queue is empty
    std::uint64_t received_ = 0;       ///< at the begin of the second that is counted
    Clock::time_point counted_from_{}; ///< that begin
    std::uint64_t rate_ = 0;           ///< of the last second
    bool is_silent_ = false;           ///< the last second was of this phase, and nothing came in it
};

} // namespace teamo
