// SPDX-License-Identifier: LGPL-2.1-or-later
#include "accept.h"

namespace teamo {

Result<Accepted> accept(ConfigurationRead read, std::string_view file) {
    std::string refused;
    std::vector<std::string> warnings;
    for (auto diagnostic : read.diagnostics) {
        if (diagnostic.tolerated) diagnostic.severity = Diagnostic::Severity::warning;
        if (diagnostic.severity == Diagnostic::Severity::warning)
            warnings.push_back(text_of(diagnostic, file));
        else if (refused.empty())
            refused = text_of(diagnostic, file);
    }
    if (!read.configuration)
        return fail(EINVAL, refused.empty() ? fmt::format("{}: cannot be used", file) : refused);
    return Accepted{std::move(*read.configuration), std::move(warnings)};
}

} // namespace teamo
