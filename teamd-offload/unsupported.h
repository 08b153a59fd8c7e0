// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "config/config_file.h"
#include "model/status.h"

#include <string>
#include <vector>

namespace teamo {

/// ENOTSUP: this version does not support something in the configuration; the error names it.
Result<> check_supported(const TeamConfig& config);

/// Settings that this version accepts but ignores, one sentence each.
std::vector<std::string> ignored_settings(const Configuration& configuration);
/// Settings that only the team driver supports.
std::vector<std::string> ignored_by_bpf(const TeamConfig& config);
/// Settings that only the BPF datapath supports.
std::vector<std::string> ignored_by_driver(const TeamConfig& config);

/// A team's state in one line, for the log and systemctl status.
std::string describe(const TeamStatus& status);

} // namespace teamo
