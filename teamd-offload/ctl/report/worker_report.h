// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output of `workers`; pure.
#pragma once

#include "model/status.h"

namespace teamo::ctl {

/// A table with a row for each worker, then sentences: reasons and remarks.
std::string workers_text(const WorkersStatus& workers);

/// Sentences on why workers are not bound or not observed, worst first.
std::vector<std::string> worker_remarks(const WorkersStatus& workers);

} // namespace teamo::ctl
