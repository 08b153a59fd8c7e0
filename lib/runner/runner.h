// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A runner decides which ports send and receive. A value: ports in, decision out.
#pragma once

#include "model/config.h"
#include "runner/activebackup.h"
#include "runner/all_ports.h"

#include <optional>
#include <span>
#include <variant>

namespace teamo {

using Runner = std::variant<AllPorts, ActiveBackup>;

/// The runner of a configuration; `active` as in ActiveBackup.
Runner make_runner(const RunnerConfig& config, std::optional<IfIndex> active);

Decision step(Runner& runner, std::span<const Candidate> ports);

} // namespace teamo
