// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// CPU numbers, ascending, each once.
using CpuList = std::vector<unsigned>;

/// Of numbers in any order, perhaps more than once.
CpuList cpu_list_of(std::vector<unsigned> numbers);

/// As the kernel writes lists of CPUs: "0-3,6" and a line's end, or nothing at all. None where it is
/// something else, or has a number of 8192 or more, which no kernel is built for.
std::optional<CpuList> parse_cpu_list(std::string_view text);

/// "0-3,6"; "" for none.
std::string text_of(const CpuList& cpus);

/// As the kernel writes masks of CPUs: "ff" or "00000003,ffffffff" and a line's end, 32 CPUs a group, the
/// highest first. None where it is something else, or tells of a CPU of 8192 or more.
std::optional<CpuList> parse_cpu_mask(std::string_view text);

/// "3,00000001" for CPUs 0, 32 and 33; "0" for none.
std::string mask_of(const CpuList& cpus);

/// Whether a list in ascending order has that CPU.
inline bool contains(const CpuList& cpus, unsigned cpu) { return std::ranges::binary_search(cpus, cpu); }

/// What is in either.
CpuList united(CpuList one, const CpuList& other);

} // namespace teamo
