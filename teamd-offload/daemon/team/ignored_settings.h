// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "config/config_file.h"
#include "datapath/datapath.h"

#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// Settings that this version accepts but ignores, one sentence each.
std::vector<std::string> ignored_settings(const Configuration& configuration);
/// Settings that have no effect, or do harm, with this datapath.
std::vector<std::string> ignored_by_datapath(const Datapath& datapath, const TeamConfig& config);

} // namespace teamo
