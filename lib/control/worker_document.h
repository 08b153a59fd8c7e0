// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/worker_status.h"
#include "json/value.h"

namespace teamo::control {

/// The key "workers" of the state document. Pure.
json::Value worker_document(const WorkersStatus& status);

} // namespace teamo::control
