// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/status.h"
#include "json/value.h"

namespace teamo::control {

/// The key "workers" of the state document. Pure.
json::Value workers_document(const WorkersStatus& status);
/// One worker in it.
json::Value worker_document(const WorkerStatus& status);
/// The workers' start times are not in it.
WorkersStatus read_workers(const json::Value& document);

} // namespace teamo::control
