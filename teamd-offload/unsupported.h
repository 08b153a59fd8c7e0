// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "config/config_file.h"
#include "model/status.h"

#include <string>
#include <vector>

namespace teamo {

/// Whether this version runs what the configuration asks for; ENOTSUP with the name of what it does not.
Result<> check_supported(const TeamConfig& config);

/// What the configuration asks for and this version reads, keeps and does not act on: a sentence each.
std::vector<std::string> ignored_settings(const Configuration& configuration);
/// The same for what only the team driver has.
std::vector<std::string> ignored_by_bpf(const TeamConfig& config);

/// The same for what only the BPF datapath has.
std::vector<std::string> ignored_by_driver(const TeamConfig& config);

/// A team's state in one line, for the log and for systemctl status.
std::string describe(const TeamStatus& status);

} // namespace teamo
