// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/config.h"
#include "json/value.h"

namespace teamo::config {

/// The document with the defaults in it that teamd writes into its own, so that `config dump` shows them.
/// What is written there stays, be it wrong.
json::Value with_defaults(json::Value document, const TeamConfig& team);

} // namespace teamo::config
