// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What `workers` shows; pure.
#pragma once

#include "model/worker_status.h"
#include "json/value.h"

namespace teamo::ctl {

/// What lib/control writes, read again.
WorkersStatus read_workers(const json::Value& document);

/// A table by process, and below it what else is to be said: sentences.
std::string workers_text(const WorkersStatus& workers);

/// What keeps workers from being bound, or from being seen: sentences, worst first.
std::vector<std::string> worker_remarks(const WorkersStatus& workers);

} // namespace teamo::ctl
