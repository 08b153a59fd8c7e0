// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Finds ports that lose packets although their link is up (gray failures). A value: counters and the time in,
// findings out.
#pragma once

#include "base/clock.h"
#include "model/balance.h"
#include "model/status.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// A port and its counters, all since the device exists.
struct LossSample {
    IfIndex port;
    Slot slot;
    bool carries = false; ///< it transmits
    LinkErrors errors{};
    std::uint64_t carrier_losses = 0;
    std::uint64_t queue_dropped = 0;          ///< packets dropped by its own qdisc
    unsigned max_loss = LossWatch{}.max_loss; ///< per mille of its TCP segments that may be sent again
};

/// What is wrong with a port.
struct LossFinding {
    std::string what;      ///< a sentence without the port's name
    bool by_flows = false; ///< the evidence is retransmissions, not the port's own counters
    bool helps = true;     ///< not to send by this port would help
    double lost = 0;       ///< retransmitted segments, per mille of those sent; 0: by other counters
    std::vector<std::uint8_t> buckets{}; ///< by_flows: those that retransmitted
    bool operator==(const LossFinding&) const = default;
};

class LossDetector {
public:
    /// How often to call step().
    static constexpr std::chrono::milliseconds tick{250};

    /// `counters`: of the buckets; nullptr: they were not read, because nothing was sent. `owners`: the slot
    /// that each leaves by.
    void step(std::span<const LossSample> ports, const AllBucketCounters* counters,
              const std::array<Slot, bucket_count>& owners, Clock::time_point now);

    /// The counters cannot be read; the next ones are compared with none before.
    void forget_counters() { last_.clear(); }

    /// nullptr: nothing is wrong.
    const LossFinding* finding(IfIndex port) const;
    /// Segments sent again by these buckets since they left by their present ports, but not longer than the
    /// last seconds or, with little traffic, the present period: per mille, if they are many more than those
    /// of the others. None: they are not, or there were too few.
    std::optional<double> lost_by(std::span<const std::uint8_t> buckets) const;
    /// The same for a port.
    std::optional<double> lost_by(IfIndex port) const;
    /// Forgets what was seen of a port, because it begins to carry again.
    void forget(IfIndex port);

private:
    struct Segments {
        std::uint64_t sent = 0, again = 0;
        Segments& operator+=(const Segments& more);
    };
    /// What each bucket has sent in a time, and by which slot.
    struct Window {
        std::array<Segments, bucket_count> buckets{};
        std::array<Slot, bucket_count> owners{};
        std::map<IfIndex, std::uint64_t> dropped{}; ///< by the ports' own queues
        std::map<IfIndex, int> lossy_ticks{};       ///< in which the port sent segments again
    };
    struct Known {
        LossSample last{};
        LossSample begun{}; ///< at the begin of the present period of its own counters
        Clock::time_point begun_at{};
        LossSample calm{}; ///< the same for carrier losses
        Clock::time_point calm_at{};
        int times = 0; ///< findings by flows in a row
        std::optional<LossFinding> finding{};
        Clock::time_point found_at{};
    };
    static void add(Window& to, const Window& more);
    template <class Action>
    void in_windows(Action action);
    Window last_seconds() const;
    static Segments total(const Window& window, Slot slot);
    static std::optional<LossFinding> by_flows(const Window& window, const LossSample& port,
                                               std::span<const LossSample> ports);
    static std::optional<LossFinding> by_errors(Known& known, const LossSample& port, Clock::time_point now);

    std::vector<Segments> last_; ///< of each bucket, as counted; empty: not known
    std::array<Slot, bucket_count> owners_{};
    std::deque<std::unique_ptr<Window>> ticks_; ///< the last seconds; nullptr: nothing was sent
    Window period_{};                           ///< for slow traffic
    Clock::time_point period_began_{};
    std::map<IfIndex, Known> known_;
};

} // namespace teamo
