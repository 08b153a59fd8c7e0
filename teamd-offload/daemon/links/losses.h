// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Watches for ports that lose packets although their link is up: reads the counters four times a second while
// there is traffic, logs what LossDetector finds, and carries out the link watch "loss" (docs/adr/0026).
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "model/status.h"
#include "watch/loss_detector.h"
#include "watch/watch_states.h"

#include <map>
#include <memory>

namespace teamo {

class Losses {
public:
    struct Port {
        IfIndex index;
        Slot slot;
        std::string name;
        bool carries = false;
        std::optional<LossWatch> watch{};
        std::uint64_t carrier_losses = 0;
    };

    static Result<std::unique_ptr<Losses>> make(TeamContext& context);

    /// The ports and the tables since the last pass.
    void follow(std::vector<Port> ports, const Tables& tables);
    /// Call it once a second. While TCP segments are sent, it looks by itself, and more often. `sending`:
    /// whether the ports have sent anything meanwhile.
    void poll(bool sending);
    /// True if the port should be used only while no other can be.
    bool is_last(IfIndex port) const;
    LossStatus status(IfIndex port) const;

private:
    explicit Losses(TeamContext& context) : context_(context) {}
    void look();
    std::optional<AllBucketCounters> read_buckets();
    bool is_watched() const;
    bool errors_are_due(Clock::time_point now) const;
    void read_errors(Clock::time_point now);
    void read_drops();
    std::vector<LossSample> samples() const;
    void judge(const Port& port, Clock::time_point now);
    void log_finding(const Port& port);

    struct Known {
        std::optional<LossState> state{}; ///< none: not watched
        std::string logged{};             ///< the finding that was logged
        bool is_out = false;
    };

    TeamContext& context_;
    std::optional<Timer> timer_;
    std::vector<Port> ports_;
    bool is_by_flow_ = false; ///< a bucket tells the port
    std::array<Slot, bucket_count> owners_{};
    LossDetector detector_;
    std::uint64_t sent_ = 0, again_ = 0; ///< segments of all buckets, when they were read last
    bool is_busy_ = false;
    bool sending_ = true; ///< as of the last poll()
    std::map<IfIndex, LinkErrors> errors_;
    Clock::time_point errors_read_{};
    std::map<IfIndex, std::uint64_t> dropped_; ///< by the ports' own queues, as last read
    LogOnce failure_{};                        ///< to count segments
    std::map<IfIndex, Known> known_;
};

} // namespace teamo
