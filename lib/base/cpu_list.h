// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

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

} // namespace teamo
