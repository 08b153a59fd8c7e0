// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/diagnostics.h"

namespace teamo::config {

/// What is wrong with a value by the table alone: its type, its range, its words. Empty: nothing, the
/// value counts. The elements of arrays and the members of objects are not looked at.
std::string fault_of(const Key& key, const json::Value& value);

/// The runner of a document, the default where it names none.
std::string_view runner_name(const json::Value& document);

/// Says of every key of the document, an object, whether it is known and what is wrong with its value.
void check_document(const json::Value& document, Diagnostics& diagnostics);

} // namespace teamo::config
