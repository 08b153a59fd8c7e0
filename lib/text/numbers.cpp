// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace teamo {

std::string megabits(double bytes_per_second) {
    const auto rate = bytes_per_second / bytes_per_megabit;
    if (rate > 0 && rate < 10) return fmt::format("{:.1f} Mbit/s", rate);
    return fmt::format("{:.0f} Mbit/s", rate);
}

std::string share(double part, double whole) {
    return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string("-");
}

std::string duration(std::chrono::milliseconds time) {
    const auto seconds = static_cast<double>(time.count()) / 1000;
    if (time.count() < 1000) return fmt::format("{} ms", time.count());
    if (seconds < 120) return fmt::format("{:.1f} s", seconds);
    if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
    return fmt::format("{:.0f} h", seconds / 3600);
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t index = 0; index < names.size(); ++index)
        text += (index == 0 ? "" : index + 1 == names.size() ? " and " : ", ") + names[index];
    return text;
}

std::string joined(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const auto middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<double> service_demand(double cpu_seconds, double bytes) {
    return bytes > 0 ? std::optional(cpu_seconds * 1e6 / (bytes / bytes_per_kibibyte)) : std::nullopt;
}

} // namespace teamo
