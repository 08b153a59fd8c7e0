// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config_file.h"
#include "datapath/datapath.h"

#include <string>
#include <vector>

namespace teamo {

/// A configuration that can be used, and what is wrong with it nevertheless.
struct Accepted {
    Configuration configuration;
    std::vector<std::string> warnings{};
};

/// For a start or a reload: what teamd tolerates is only a warning. EINVAL: the first error.
/// `file`: the text's name in messages.
Result<Accepted> accept(ConfigurationRead read, std::string_view file);

/// Settings that have no effect, or do harm, with this datapath.
std::vector<std::string> ignored_by_datapath(const Datapath& datapath, const TeamConfig& config);

} // namespace teamo
