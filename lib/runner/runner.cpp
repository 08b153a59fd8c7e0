// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner/runner.h"

namespace teamo {

Runner make_runner(const RunnerConfig& config, std::optional<IfIndex> active) {
    if (std::holds_alternative<ActiveBackupRunner>(config)) return ActiveBackup(active);
    return AllPorts{};
}

Decision step(Runner& runner, std::span<const Candidate> ports) {
    return std::visit([ports](auto& one) { return one.step(ports); }, runner);
}

} // namespace teamo
