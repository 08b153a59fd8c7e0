// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace teamo {
namespace {

/// Optimal string alignment distance (Damerau 1964, restricted): a swap of two neighbours counts as one.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j)
        cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

} // namespace

std::string_view nearest(std::string_view written, std::span<const std::string_view> known) {
    // No option is that long, and the cost of distance() is quadratic.
    if (written.size() > 64) return {};
    std::string_view best;
    std::size_t least = std::max<std::size_t>(1, written.size() / 3) + 1;
    for (const auto word : known)
        if (const auto here = distance(written, word); here < least) {
            least = here;
            best = word;
        }
    return best;
}

} // namespace teamo
