// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/figure.h"

#include <fmt/format.h>

#include <cstdlib>

namespace teamo::test {
namespace {

/// The values of a figure to compare with `Bounds::promised` and with `Bounds::defect`.
struct Judged {
    double promised = 0, defect = 0;
};

testing::AssertionResult judge(std::string_view what, Judged figure, Bounds bounds, std::string_view way,
                               bool (*keeps)(double figure, double bound)) {
    const bool kept = keeps(figure.promised, bounds.promised);
    const bool sound = keeps(figure.defect, bounds.defect);
    auto text = fmt::format("{}: {:.4g}, promised {} {:.4g}: {}", what, figure.promised, way, bounds.promised,
                            kept ? "kept" : "missed");
    if (figure.defect != figure.promised) text += fmt::format("; the shortest: {:.4g}", figure.defect);
    fmt::print("{}\n", text);
    if (sound && (kept || !promises_enforced())) return testing::AssertionSuccess();
    return testing::AssertionFailure() << fmt::format("{}, a defect from {:.4g} on", text, bounds.defect);
}

bool no_more(double value, double bound) { return value <= bound; }
bool no_less(double value, double bound) { return value >= bound; }

} // namespace

bool promises_enforced() {
    const auto* held = std::getenv("TEAMO_PROMISES");
    return held != nullptr && std::string_view(held) == "1";
}

testing::AssertionResult at_most(std::string_view what, double figure, Bounds bounds) {
    return judge(what, {figure, figure}, bounds, "at most", no_more);
}

testing::AssertionResult at_least(std::string_view what, double figure, Bounds bounds) {
    return judge(what, {figure, figure}, bounds, "at least", no_less);
}

testing::AssertionResult at_most(std::string_view what, const std::vector<double>& times, Bounds bounds) {
    return judge(fmt::format("{}, median of {}", what, times.size()),
                 {median(times), std::ranges::min(times)}, bounds, "at most", no_more);
}

} // namespace teamo::test
