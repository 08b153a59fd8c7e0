// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/config.h"
#include "json/value.h"

namespace teamo::config {

/// Converts a document without refused values (check_document, check_names).
TeamConfig make_team(const json::Value& document, std::string_view device);

} // namespace teamo::config
