// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/status.h"
#include "json/value.h"

namespace teamo::control {

/// The key "offload" of the state document. Pure.
json::Value offload_document(const OffloadStatus& status);
/// The team's name is not in it.
OffloadStatus read_offloads(const json::Value& document);

} // namespace teamo::control
