// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamd's state document ("teamdctl team0 state dump"), made from a TeamStatus; pure.
#pragma once

#include "base/result.h"
#include "model/status.h"
#include "json/value.h"

namespace teamo::control {

/// All that libteamdctl requires, key for key as teamd has it. What teamd does not have stands under keys of
/// its own: "team_device"/"link", "datapath", and per port "datapath".
json::Value state_document(const TeamStatus& status);

/// A leaf of the document by teamd's item path: names between dots, a name with dots in quotes
/// (ports."eth1.100".link.up). Integers in decimal, booleans "true" and "false". None: no such leaf.
std::optional<std::string> state_item(const json::Value& document, std::string_view path);

/// A path taken apart; none where a quote does not end or a name is empty.
std::optional<std::vector<std::string>> split_item_path(std::string_view path);

} // namespace teamo::control
