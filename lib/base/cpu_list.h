// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// CPU numbers, ascending, without duplicates.
using CpuList = std::vector<unsigned>;

/// From numbers in any order, with or without duplicates.
CpuList cpu_list_of(std::vector<unsigned> numbers);

/// Parses the kernel's CPU list: "0-3,6" with an optional newline, or an empty text. None for any other text,
/// and for CPU numbers from 8192 on, which no kernel supports.
std::optional<CpuList> parse_cpu_list(std::string_view text);

/// "0-3,6"; "" for none.
std::string text_of(const CpuList& cpus);

/// Parses the kernel's CPU mask: "ff" or "00000003,ffffffff" with an optional newline; 32 CPUs per group, the
/// highest group first. None for any other text, and for CPU numbers from 8192 on.
std::optional<CpuList> parse_cpu_mask(std::string_view text);

/// "3,00000001" for CPUs 0, 32 and 33; "0" for none.
std::string mask_of(const CpuList& cpus);

/// Whether the list has the CPU.
inline bool contains(const CpuList& cpus, unsigned cpu) { return std::ranges::binary_search(cpus, cpu); }

/// The union of both.
CpuList united(CpuList one, const CpuList& other);

} // namespace teamo
