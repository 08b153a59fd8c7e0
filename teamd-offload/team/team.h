// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One team: a value with everything it needs, nothing about it global. It owns its device and its ports from
// start to stop, and between the two repeats one pass: observe, decide, plan, apply (team_pass.cpp).
#pragma once

#include "balancing/balancing.h"
#include "base/failures.h"
#include "config/config_file.h"
#include "control/usock_message.h"
#include "cpus/benchmark_pause.h"
#include "cpus/interrupts.h"
#include "cpus/port_cpus.h"
#include "cpus/workers.h"
#include "datapath/datapath.h"
#include "kernel/ethtool/ethtool.h"
#include "links/announcer.h"
#include "links/carrier_monitor.h"
#include "links/observer.h"
#include "offloads/offload_trial.h"
#include "offloads/offloads.h"
#include "plan/team/changes.h"
#include "plan/team/patience.h"
#include "runtime/journal.h"
#include "watch/port_watch.h"

#include <memory>
#include <set>

namespace teamo {

/// How a team is started and stopped (teamd(8)'s options).
struct TeamOptions {
    bool recreate = false;      ///< -r: a device of that name is replaced
    bool without_ports = false; ///< -n: the configured ports are not added
    bool keep_on_stop = false;  ///< -N: device and ports stay when the daemon stops
    bool take_over = false;     ///< -o: a device of the team driver that somebody else made is taken over
    bool daemonized = false;
    DatapathChoice datapath = DatapathChoice::automatic;
    std::string pid_file;
    std::function<void()> changed; ///< called when other ports carry than before
};

class Team {
public:
    /// Makes the team, or goes on with the one that an earlier daemon left. On failure all is as it was.
    /// `failed` is called when the team cannot go on, as when somebody removed its device.
    static Result<std::unique_ptr<Team>> start(Configuration configuration, TeamOptions options, Log& log,
                                               sd_event* loop, std::function<void(Error)> failed);

    /// Puts everything back, unless the team is to be kept.
    void stop();
    /// After a start that failed: what this process made goes, what it adopted runs on.
    void abandon();

    control::Reply answer(const control::Request& request);

    TeamStatus status();
    const std::string& name() const { return configuration_.team.device; }

private:
    struct Port {
        IfIndex index;
        Slot slot;
        std::string name; ///< as the configuration has it
        PortConfig config;
        PortWatch watch;
        LinkStatus modes; ///< speed and duplex as last read
        bool had_link = false;
        Repair mtu_repair{};
    };

    Team(Configuration configuration, TeamOptions options, Log& log, LinkControl control, Ethtool ethtool,
         std::unique_ptr<Datapath> datapath);

    // team_start.cpp: from nothing to a team, and back
    Result<> open(sd_event* loop);
    Result<> check_ports() const;
    Result<> remove_existing();
    Result<> make_device();
    Result<> join_configured();
    Result<> listen(sd_event* loop);
    void await_leaving(Clock::time_point until);
    void remove_device(Clock::time_point until);

    // team_adopt.cpp: what an earlier daemon left
    Result<> remove_half_made();
    Result<std::optional<Journal>> read_own_journal();
    Result<> clear_leftovers();
    Result<> adopt_device(const TeamDevice& device);
    void adopt_ports(const std::vector<PortBefore>& noted);
    void adopt_port(const PortBefore& port, const Link& link);
    void finish_begun();

    // team_ports.cpp: ports come and go
    Result<> join(IfIndex port);
    Result<> take_in(const Link& link, const PortConfig& config, PortBefore& before);
    Result<> leave(IfIndex port);
    Result<> settle(IfIndex port);
    void settle_due();
    void drop_vanished();
    void follow_masters();
    void note_refusal(const std::string& port, const Error& refusal);
    bool is_worth_trying(const std::string& port, const Link& link) const;
    void join_awaited();
    PortBefore begin(const Link& link, Slot slot);
    bool is_slave(const Link& link) const;
    bool is_ours(const Link& link) const;
    PortConfig config_of(std::string_view port) const;
    Result<Slot> free_slot() const;
    Port* find_port(std::string_view name);
    PortBefore* before(IfIndex port);

    // team_pass.cpp: observe, decide, plan, apply
    void pass();
    void decide();
    std::vector<Candidate> candidates() const;
    void step_watches();
    TeamPlan plan(const Decision& decision) const;
    void put_into_effect(const TeamPlan& plan);
    void apply(const std::vector<Change>& list);
    std::vector<Change> limit_mtu_repairs(std::vector<Change> list);
    Result<> apply(const Change& change);
    Result<> note_taken_down(IfIndex port, bool down);
    void complain(std::string& complaint, Patience& patience, std::string_view what, const Result<>& done);
    void announce(bool by_kernel);
    void log_changes(const Decision& decision);
    Result<> keep_journal();
    std::optional<Clock::time_point> next_try() const;

    // team_reception.cpp: what ports take in and must not do; everything put back
    void update_uppers();
    bool update_team_addresses();
    bool update_gso_limits();
    void poll_unreported();
    void note_addresses(const Link& link, PortBefore& port);
    Result<> put_back(const PortBefore& port);
    Result<> put_back_features(const PortBefore& port);
    Result<> let_go(const PortBefore& port);
    Result<> unmark(IfIndex port, const Failures& failures);

    // team_offloads.cpp: the offload contract
    Result<> start_offloads(sd_event* loop);
    Result<> remember_features(IfIndex port, const FeatureSettings& before);
    void read_modes(Port& port);
    OffloadStatus offload_status() const;

    // team_interrupts.cpp: the ports' interrupt CPUs
    Result<> start_interrupts(sd_event* loop);
    std::vector<Interrupts::Port> ports_with_interrupts() const;

    // team_workers.cpp: processes that follow their packets
    Result<> start_workers(sd_event* loop);
    void release_left_workers();
    Result<> start_benchmark_pause(sd_event* loop);

    // team_balance.cpp: what balancing needs to know
    Result<> start_balancing(sd_event* loop);
    std::vector<Balancing::Port> balanced_ports() const;
    std::vector<PortCpus::Port> ports_with_cpus() const;

    // team_requests.cpp: the control socket
    PortStatus port_status(const Port& port) const;
    std::vector<RefusedStatus> refused_status() const;
    struct Answering;
    control::Reply set_item(const std::string& path, const std::string& value);
    control::Reply update_port(const control::PortConfigUpdate& request);

    Configuration configuration_;
    TeamOptions options_;
    Log& log_;
    LinkControl control_;
    Ethtool ethtool_;
    std::unique_ptr<Datapath> datapath_;
    std::optional<Io> datapath_events_;
    std::unique_ptr<Observer> observer_;
    std::unique_ptr<CarrierMonitor> carrier_monitor_;
    std::unique_ptr<OffloadTrial> trial_;
    std::unique_ptr<Announcer> announcer_;
    std::unique_ptr<Balancing> balancing_;
    std::unique_ptr<PortCpus> port_cpus_;
    std::unique_ptr<Offloads> offloads_;
    std::unique_ptr<Interrupts> interrupts_;
    std::unique_ptr<Workers> workers_;
    std::unique_ptr<BenchmarkPause> benchmark_pause_;
    std::map<std::string, BenchmarkResult> benchmarks_; ///< by step, what somebody has measured
    std::optional<Timer> timer_;                        ///< when a delay of a link watch is over
    std::optional<Timer> poll_timer_;                   ///< for what the kernel tells nobody
    std::function<void(Error)> failed_;

    TeamDevice device_;
    bool made_device_ = false; ///< by this process: a failed start takes it away again
    std::vector<Port> ports_;  ///< in the order they joined
    Runner runner_;
    Decision decision_;
    Tables tables_;
    Journal journal_, written_; ///< as it is to be, and as it is in the file
    /// A change that the kernel refused: not tried again as long as it stands, unless the refusal may pass.
    struct RefusedChange {
        Change change;
        std::string said;
        std::optional<Patience> patience;
    };
    std::vector<RefusedChange> refused_;
    /// A port whose device is there and could not join.
    struct RefusedPort {
        std::pair<IfIndex, std::vector<std::string>> seen; ///< master and marks then: others may let it in
        std::string said;                                  ///< complained of once
        std::optional<Patience> patience;                  ///< where it may pass by itself
    };
    std::set<std::string> awaited_;                         ///< configured ports that are not in
    std::map<std::string, RefusedPort> refused_ports_;      ///< by name
    std::map<IfIndex, Patience> leaving_;                   ///< ports that could not be put back yet
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers_; ///< master, then devices on the team with IFF_*
    std::vector<MacAddress> unicast_list_;                  ///< the team's, as read when uppers_ last changed
    std::string complaint_, journal_complaint_; ///< what the datapath, and the journal, were last refused
    Patience tables_patience_, journal_patience_;
    SegmentLimits limited_to_; ///< the team's, as a plan set them
    std::uint32_t mtu_ = 0;    ///< the team's last MTU that every port took
};

} // namespace teamo
