// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/accept.h"

namespace teamo {

Result<Accepted> accept(ConfigurationRead read, std::string_view file) {
    if (!read.configuration) {
        const auto* why = read.refusal();
        return fail(EINVAL, why == nullptr ? fmt::format("{}: cannot be used", file) : text_of(*why, file));
    }
    std::vector<std::string> warnings;
    for (auto diagnostic : read.diagnostics) {
        if (diagnostic.tolerated) diagnostic.severity = Diagnostic::Severity::warning;
        if (diagnostic.severity == Diagnostic::Severity::warning)
            warnings.push_back(text_of(diagnostic, file));
    }
    return Accepted{std::move(*read.configuration), std::move(warnings)};
}

} // namespace teamo
