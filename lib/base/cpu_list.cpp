// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/cpu_list.h"

#include <algorithm>
#include <charconv>

namespace teamo {
namespace {

constexpr unsigned cpu_limit = 8192;

/// Takes a number from the front of the text.
std::optional<unsigned> take_number(std::string_view& text) {
    unsigned number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number >= cpu_limit) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    return number;
}

bool take(std::string_view& text, char character) {
    if (!text.starts_with(character)) return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

std::optional<CpuList> parse_cpu_list(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    CpuList cpus;
    if (text.empty()) return cpus;
    do {
        const auto first = take_number(text);
        if (!first) return std::nullopt;
        const auto last = take(text, '-') ? take_number(text) : first;
        if (!last || *last < *first) return std::nullopt;
        for (unsigned cpu = *first; cpu <= *last; ++cpu)
            cpus.push_back(cpu);
    } while (take(text, ','));
    if (!text.empty()) return std::nullopt;
    std::ranges::sort(cpus);
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end()); // clang 14 has no subrange of libstdc++ 12
    return cpus;
}

std::string text_of(const CpuList& cpus) {
    std::string text;
    for (auto first = cpus.begin(); first != cpus.end();) {
        auto last = first;
        while (std::next(last) != cpus.end() && *std::next(last) == *last + 1)
            ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(*first);
        if (last != first) text += '-' + std::to_string(*last);
        first = std::next(last);
    }
    return text;
}

} // namespace teamo
