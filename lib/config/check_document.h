// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/diagnostics.h"

namespace teamo::config {

/// Checks a value against the key's type, range and words. Empty: the value is valid. Elements of arrays and
/// members of objects are not checked.
std::string fault_of(const Key& key, const json::Value& value);

/// The document's runner; the default if it names none.
std::string_view runner_name(const json::Value& document);

/// Reports unknown keys and invalid values. The document must be an object.
void check_document(const json::Value& document, Diagnostics& diagnostics);

} // namespace teamo::config
