// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measured balancing of one team. Every interval it reads the buckets' loads and, if that pays, gives some
// buckets another owner. A bucket moves when its traffic pauses.
#pragma once

#include "balance/balancer.h"
#include "balance/meters.h"
#include "balance/moves.h"
#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "daemon/cpus/port_cpus.h"
#include "datapath/datapath.h"
#include "model/status.h"

#include <deque>
#include <map>
#include <memory>
#include <set>

namespace teamo {

class Balancing {
public:
    struct Port {
        IfIndex index;
        Slot slot;
        std::string name;
        std::uint32_t speed = 0; ///< Mbit/s; 0 unknown
        std::optional<std::uint32_t> weight{};
        bool segments = true;   ///< TSO is on
        bool transmits = false; ///< and is not drained
    };
    static Result<std::unique_ptr<Balancing>> make(TeamContext& context, const PortCpus& cpus);
    /// The ports and the tables since the last pass.
    void follow(std::vector<Port> ports, const Tables& tables);
    /// Begins to measure, and to move if the configuration says so.
    void start();
    /// Call it after a change of the configuration.
    void reconfigure(const BalanceConfig& before);

    // For the plan.
    std::array<Slot, bucket_count> leaving() const { return moves_.leaving(); }
    const Moves::Drains& drains() const { return drains_; }
    /// Buckets that `next` would move to another port at once wait for a gap instead, as long as their old
    /// port carries. With balancing off they move at once, as with teamd; but not `by_drain`, if the datapath
    /// detects gaps.
    void hold(const Tables& now, Tables& next, bool by_drain);

    /// Requested by the administrator: moves a bucket in a gap of its traffic, or now. EINVAL: no buckets;
    /// ENODEV: the port does not carry.
    Result<> move(std::uint8_t bucket, Slot to, bool now);
    void freeze(bool frozen) { frozen_ = frozen; }
    /// False: the ports have sent nothing in the last second.
    bool is_sending() const { return sending_; }

    BalanceStatus status() const;

private:
    Balancing(TeamContext& context, const PortCpus& cpus) : context_(context), cpus_(cpus) {}
    BucketOwners& owners() const { return context_.journal.edit().owners; }
    const BalanceConfig& config() const { return context_.config().balance; }
    void measure();
    void measure_rates();
    void place();
    bool begin(const BucketMove& move);
    bool may_carry(Slot slot) const;
    void reconcile();
    bool moves_by_flow() const;
    Datapath& datapath() const { return *context_.datapath; }
    void update_drains();
    void read_queues(std::chrono::milliseconds age);
    bool has_loads() const;
    bool count();
    /// As configured, but not so short that the loads of a burst move buckets.
    std::chrono::milliseconds interval() const;
    void note(const Moves::Ended& ended);
    std::string port_name(Slot slot) const;
    MoveStatus status_of(const Moves::Ended& ended) const;

    TeamContext& context_;
    const PortCpus& cpus_;
    const Log& log_ = context_.log;
    std::vector<Port> ports_;
    Tables tables_;
    std::optional<Timer> interval_, tick_, second_;

    /// What the ports have sent, as last read, and what of it in the last second.
    std::array<std::uint64_t, max_ports + 1> sent_by_slot_{};
    std::optional<Clock::time_point> sent_at_;
    std::array<double, max_ports + 1> rates_{}; ///< bytes per second; -1: not known yet
    bool sending_ = true, sent_since_ = true;   ///< in the last second; since the loads were read last
    bool pausing_ = false;                      ///< the loads are zero, and are not read

    LoadMeter meter_{interval()};
    bool counted_ = false, frozen_ = false;
    LogOnce failure_; ///< to read the loads
    std::array<double, max_ports + 1> planned_{};
    Moves moves_;
    std::map<IfIndex, DrainBound> queues_;
    Moves::Drains drains_{};
    std::uint64_t sent_ = 0;          ///< bytes through the ports' queues, of all ports
    Moves::Drains reported_drains_{}; ///< the drain times in the tables, if flows wait
    Clock::time_point reported_at_;
    std::set<std::uint8_t> at_once_; ///< buckets that do not wait: the administrator requested that
    std::set<std::uint8_t> waited_;  ///< buckets whose wait has just ended: the next pass moves them
    std::map<std::uint8_t, Clock::time_point> resting_; ///< buckets that did not pause: not moved before

    struct Past {
        MoveStatus status;
        Clock::time_point at;
    };
    std::uint64_t moved_ = 0;
    std::deque<Past> past_; ///< the last moves that ended, latest first
};

} // namespace teamo
