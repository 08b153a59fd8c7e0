// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output of `offload`, as text and as JSON; pure.
#pragma once

#include "ctl/report/software_segmentation.h"

namespace teamo::ctl {

struct OffloadReport {
    TeamState state;               ///< with its offloads
    std::vector<PortCost> costs;   ///< of the ports without TSO
    std::string measurement_error; ///< why a cost is not measured; empty: all are
};

/// ENOTSUP if the state has no offloads: the daemon is too old.
Result<> require_offloads(const TeamState& state);

/// Sentences: which port holds the team back, by which offload or limit, and whether it is used.
std::vector<std::string> offload_remarks(const OffloadStatus& offload);

/// Sentences on what software segmentation costs now.
std::vector<std::string> cost_remarks(const OffloadReport& report);

std::string offload_text(const OffloadReport& report);
json::Value offload_json(const OffloadReport& report);

} // namespace teamo::ctl
