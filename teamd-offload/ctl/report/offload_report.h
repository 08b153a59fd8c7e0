// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What `offload` shows, for people and for programs; pure.
#pragma once

#include "ctl/report/software_segmentation.h"

namespace teamo::ctl {

struct OffloadReport {
    TeamState state;             ///< with its offloads
    std::vector<PortCost> costs; ///< of the ports that do not segment themselves
    std::string unmeasured;      ///< why costs are not measured; empty: they are
};

/// ENOTSUP: the daemon is older than its offload contract.
Result<> tells_of_offloads(const TeamState& state);

/// Which port holds the team back, by what, and what becomes of it: sentences.
std::vector<std::string> offload_remarks(const OffloadStatus& offload);

/// What the ports cost now: sentences.
std::vector<std::string> cost_remarks(const OffloadReport& report);

std::string offload_text(const OffloadReport& report);
json::Value offload_json(const OffloadReport& report);

} // namespace teamo::ctl
