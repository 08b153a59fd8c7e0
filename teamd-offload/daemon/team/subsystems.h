// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/balancing/balancing.h"
#include "daemon/context/team_context.h"
#include "daemon/cpus/interrupt_subsystem.h"
#include "daemon/cpus/port_cpus.h"
#include "daemon/cpus/worker_subsystem.h"
#include "daemon/links/announcer.h"
#include "daemon/links/carrier_monitor.h"
#include "daemon/links/drains.h"
#include "daemon/links/failure_domains.h"
#include "daemon/links/guard_subsystem.h"
#include "daemon/links/lacp_frames.h"
#include "daemon/links/losses.h"
#include "daemon/links/probes.h"
#include "daemon/links/program_watch.h"
#include "daemon/offloads/offloads.h"

namespace teamo {

/// Parts that run outside the pass, each with its own timer or descriptor. None of them runs a pass: they
/// request one, and the loop runs it.
struct Subsystems {
    std::unique_ptr<CarrierMonitor> carrier_monitor;
    std::unique_ptr<Announcer> announcer;
    std::unique_ptr<FailureDomains> failure_domains;
    std::unique_ptr<Guard> guard;
    std::unique_ptr<ProgramWatch> program_watch;
    std::unique_ptr<LacpFrames> lacp_frames;
    std::unique_ptr<Probes> probes;
    std::unique_ptr<Losses> losses;
    std::unique_ptr<Drains> drains;
    std::unique_ptr<Offloads> offloads;
    std::unique_ptr<Interrupts> interrupts;
    std::unique_ptr<PortCpus> port_cpus;
    std::unique_ptr<Balancing> balancing;
    std::unique_ptr<Workers> workers;

    /// `lacp`: as LacpFrames::make() needs it.
    Result<> make(TeamContext& context, std::function<lacp::System*()> lacp);
};

} // namespace teamo
