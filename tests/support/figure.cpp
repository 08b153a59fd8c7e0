// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/figure.h"

#include <fmt/format.h>

#include <cstdlib>

namespace teamo::test {
namespace {

testing::AssertionResult judge(std::string_view what, double figure, Bounds bounds, std::string_view way,
                               bool (*keeps)(double figure, double bound)) {
    const bool kept = keeps(figure, bounds.promised);
    const auto text = fmt::format("{}: {:.4g}, promised {} {:.4g}: {}", what, figure, way, bounds.promised,
                                  kept ? "kept" : "missed");
    fmt::print("{}\n", text);
    const auto* held = std::getenv("TEAMO_PROMISES");
    const bool strict = held != nullptr && std::string_view(held) == "1";
    if (kept || (!strict && keeps(figure, bounds.defect))) return testing::AssertionSuccess();
    return testing::AssertionFailure() << fmt::format("{}, a defect from {:.4g} on", text, bounds.defect);
}

} // namespace

testing::AssertionResult at_most(std::string_view what, double figure, Bounds bounds) {
    return judge(what, figure, bounds, "at most", [](double value, double bound) { return value <= bound; });
}

testing::AssertionResult at_least(std::string_view what, double figure, Bounds bounds) {
    return judge(what, figure, bounds, "at least", [](double value, double bound) { return value >= bound; });
}

} // namespace teamo::test
