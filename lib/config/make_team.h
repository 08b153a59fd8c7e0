// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/config.h"
#include "json/value.h"

namespace teamo::config {

/// The meaning of a document that check_document and check_names let pass.
TeamConfig make_team(const json::Value& document, std::string_view device);

} // namespace teamo::config
