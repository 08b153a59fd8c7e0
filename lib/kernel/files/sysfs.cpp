// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/sysfs.h"

#include "base/whole_number.h"
#include "kernel/files/files.h"

#include <algorithm>

namespace teamo::sysfs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 65536;

} // namespace

std::vector<std::string> names_in(const fs::path& folder, bool only_folders) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (std::error_code ignored; !only_folders || entry->is_directory(ignored))
            names.push_back(entry->path().filename());
    std::ranges::sort(names);
    return names;
}

std::vector<unsigned> numbers_in(const fs::path& folder, std::string_view prefix) {
    std::vector<unsigned> numbers;
    for (const auto& whole : names_in(folder))
        if (whole.starts_with(prefix))
            if (const auto number = whole_number<unsigned>(std::string_view(whole).substr(prefix.size())))
                numbers.push_back(*number);
    std::ranges::sort(numbers);
    return numbers;
}

std::string first_line(const fs::path& file) {
    const auto text = read_file(file, most_bytes);
    return text ? text->substr(0, text->find('\n')) : std::string();
}

std::optional<std::int64_t> number(const fs::path& file) {
    return whole_number<std::int64_t>(first_line(file));
}

std::optional<CpuList> cpus(const fs::path& file) {
    const auto text = read_file(file, most_bytes);
    return text ? parse_cpu_list(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
}

} // namespace teamo::sysfs
