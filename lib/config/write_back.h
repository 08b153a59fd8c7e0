// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/config.h"
#include "json/value.h"

namespace teamo::config {

/// Adds the defaults that teamd adds to its own document, so that `config dump` shows them. Existing values
/// stay, also invalid ones.
json::Value with_defaults(json::Value document, const TeamConfig& team);

} // namespace teamo::config
