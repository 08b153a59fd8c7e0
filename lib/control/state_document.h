// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes teamd's state document ("teamdctl team0 state dump") from a TeamStatus. Pure.
#pragma once

#include "base/result.h"
#include "model/status.h"
#include "json/value.h"

namespace teamo::control {

/// Has all keys that libteamdctl requires, as in teamd's document. Additions that teamd does not have are
/// under their own keys, such as "team_device"/"link", "datapath", and "datapath" of each port.
json::Value state_document(const TeamStatus& status);

/// A leaf of the document by teamd's item path: names separated by dots, names with dots in quotes
/// (ports."eth1.100".link.up). Integers in decimal, booleans "true" and "false". None: no such leaf.
std::optional<std::string> state_item(const json::Value& document, std::string_view path);

/// Splits a path; none if a quote is not closed or a name is empty.
std::optional<std::vector<std::string>> split_item_path(std::string_view path);

} // namespace teamo::control
