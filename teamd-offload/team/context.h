// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Shared by all parts of a team. The team owns it; the parts hold references.
#pragma once

#include "balancing/balancing.h"
#include "config/config_file.h"
#include "cpus/benchmark_pause.h"
#include "cpus/interrupts.h"
#include "cpus/port_cpus.h"
#include "cpus/workers.h"
#include "datapath/datapath.h"
#include "journal_keeper.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/links.h"
#include "links/announcer.h"
#include "links/carrier_monitor.h"
#include "links/observer.h"
#include "log.h"
#include "offloads/offload_trial.h"
#include "offloads/offloads.h"
#include "options.h"

namespace teamo {

struct TeamContext {
    Configuration configuration;
    Options options;
    Log& log;
    std::function<void()> changed; ///< called when the set of ports that carry changes
    LinkControl control;
    Ethtool ethtool;
    std::unique_ptr<Datapath> datapath;
    std::unique_ptr<Observer> observer{};
    JournalKeeper journal{configuration.team.device, log};
    TeamDevice device{};

    const TeamConfig& config() const { return configuration.team; }
    const std::string& name() const { return configuration.team.device; }
    const Links& links() const { return observer->links(); }
    /// nullptr: there is no such device.
    const Link* link(IfIndex index) const { return find_link(links(), index); }
    const Link* team() const { return link(device.team); }
};

/// Parts that run outside the pass, each with its own timer or descriptor. None of them runs a pass: they
/// request one, and the loop runs it.
struct Subsystems {
    std::unique_ptr<CarrierMonitor> carrier_monitor;
    std::unique_ptr<Announcer> announcer;
    std::unique_ptr<OffloadTrial> trial;
    std::unique_ptr<Offloads> offloads;
    std::unique_ptr<Interrupts> interrupts;
    std::unique_ptr<PortCpus> port_cpus;
    std::unique_ptr<Balancing> balancing;
    std::unique_ptr<Workers> workers;
    std::unique_ptr<BenchmarkPause> benchmark_pause;

    /// `request_pass`: makes the loop run a pass soon.
    Result<> make(sd_event* loop, TeamContext& context, const std::function<void()>& request_pass);
};

} // namespace teamo
