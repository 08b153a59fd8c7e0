// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/cpu_list.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <utility>

namespace teamo {
namespace {

constexpr unsigned cpu_limit = 8192, group_bits = 32;

/// Removes a number of at most `most` digits from the front of the text.
std::optional<std::uint32_t> take_number(std::string_view& text, int base, std::size_t most) {
    std::uint32_t number = 0;
    const auto [rest, error] =
        std::from_chars(text.data(), text.data() + std::min(most, text.size()), number, base);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    return number;
}

bool take(std::string_view& text, char character) {
    if (!text.starts_with(character)) return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

CpuList cpu_list_of(std::vector<unsigned> numbers) {
    std::ranges::sort(numbers);
    // clang 14 lacks std::ranges::unique.
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

std::optional<CpuList> parse_cpu_list(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.empty()) return CpuList{};
    std::vector<bool> listed(cpu_limit); // a text of 64 KiB can name every CPU thousands of times
    unsigned end = 0;
    do {
        const auto first = take_number(text, 10, text.size());
        const auto last = take(text, '-') ? take_number(text, 10, text.size()) : first;
        if (!first || !last || *last < *first || *last >= cpu_limit) return std::nullopt;
        std::fill(listed.begin() + *first, listed.begin() + *last + 1, true);
        end = std::max(end, *last + 1);
    } while (take(text, ','));
    if (!text.empty()) return std::nullopt;
    CpuList cpus;
    for (unsigned cpu = 0; cpu < end; ++cpu)
        if (listed[cpu]) cpus.push_back(cpu);
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

std::optional<CpuList> parse_cpu_mask(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    std::vector<std::uint32_t> groups;
    do {
        const auto bits = take_number(text, 16, group_bits / 4);
        if (!bits) return std::nullopt;
        groups.push_back(*bits);
    } while (take(text, ','));
    if (!text.empty()) return std::nullopt;
    CpuList cpus;
    unsigned first = 0;
    for (auto bits = groups.rbegin(); bits != groups.rend(); ++bits, first += group_bits) {
        if (first >= cpu_limit && *bits != 0) return std::nullopt;
        for (unsigned bit = 0; bit < group_bits; ++bit)
            if ((*bits >> bit & 1U) != 0) cpus.push_back(first + bit);
    }
    return cpus;
}

std::string mask_of(const CpuList& cpus) {
    std::vector<std::uint32_t> groups(1);
    for (const auto cpu : cpus) {
        if (cpu / group_bits >= groups.size()) groups.resize(cpu / group_bits + 1);
        groups[cpu / group_bits] |= std::uint32_t{1} << cpu % group_bits;
    }
    std::string text = fmt::format("{:x}", groups.back());
    for (auto bits = std::next(groups.rbegin()); bits != groups.rend(); ++bits)
        text += fmt::format(",{:08x}", *bits);
    return text;
}

CpuList united(CpuList one, const CpuList& other) {
    one.insert(one.end(), other.begin(), other.end());
    return cpu_list_of(std::move(one));
}

} // namespace teamo
