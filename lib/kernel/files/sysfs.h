// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Folders and one-line files of /sys and /proc. An absent or unreadable file has no value.
#pragma once

#include "base/cpu_list.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace teamo::sysfs {

/// Names in a folder, sorted; empty if there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder, bool only_folders = false);

/// Those of the names that are numbers after the prefix, ascending: 0, 1, 2 for "rx-0", "rx-1", "rx-2".
std::vector<unsigned> numbers_in(const std::filesystem::path& folder, std::string_view prefix = "");

/// The first line without the newline; "" if there is none.
std::string first_line(const std::filesystem::path& file);

std::optional<std::int64_t> number(const std::filesystem::path& file);

/// A list of CPUs ("0-3"); none if the file is absent or has other content.
std::optional<CpuList> cpus(const std::filesystem::path& file);

} // namespace teamo::sysfs
