// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Puts a team in the place of a bond that is in use: part of the ports moves first, then addresses and
// routes, then the other ports. There is always a device that carries.
#pragma once

#include "ctl/session.h"
#include "model/observation.h"

#include <chrono>

namespace teamo::ctl {

/// What replace() is to do.
struct Replacement {
    std::string bond, team, file; ///< file: where the configuration is written
    bool by_systemd = false;      ///< the unit teamd-offload@TEAM runs the daemon, also at boot
    json::Value document;         ///< of the team, with all ports
};

/// What it did.
struct Replaced {
    std::chrono::milliseconds carried{0}; ///< until the team had addresses and routes
    std::chrono::milliseconds ended{0};   ///< until all ports carried
    std::size_t ports = 0, carrying = 0;
    bool is_renewed = false;                             ///< see IpSettings
    std::uint64_t segments_sent = 0, segments_again = 0; ///< of TCP, meanwhile, in the whole namespace
};

/// If a step fails before the bond is removed, all is put back. ENOTSUP: the bond is used in a way that a
/// team cannot take over while it runs.
Result<Replaced> replace(const Replacement& wanted, const Options& options);

} // namespace teamo::ctl
