// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/import/settings_file.h"

#include "base/handle.h"

#include <wordexp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

namespace teamo::ctl {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

} // namespace

std::string with_joined_lines(std::string text) {
    for (auto at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at))
        text.replace(at, 2, " ");
    return text;
}

Settings read_settings(std::string_view whole) {
    const auto joined = with_joined_lines(std::string(whole));
    std::string_view text = joined;
    Settings settings;
    std::string section;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line[0] == '#' || line[0] == ';') continue;
        if (line.front() == '[' && line.back() == ']') {
            section = line.substr(1, line.size() - 2);
            continue;
        }
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        settings.push_back({.section = section,
                            .key = std::string(trimmed(line.substr(0, equals))),
                            .value = std::string(trimmed(line.substr(equals + 1)))});
    }
    return settings;
}

bool is_ifcfg(const std::filesystem::path& path) {
    const auto name = path.filename().string();
    return name.starts_with("ifcfg-") && !name.ends_with("~") && path.extension() != ".bak" &&
           !path.extension().string().starts_with(".rpm");
}

std::optional<std::string> find(const Settings& settings, std::string_view section, std::string_view key) {
    const auto found = std::ranges::find_if(settings.rbegin(), settings.rend(), [&](const Setting& setting) {
        return setting.section == section && setting.key == key;
    });
    return found == settings.rend() ? std::nullopt : std::optional(found->value);
}

std::pair<std::string, std::string> interfaces_option(const std::string& line) {
    std::istringstream words(line);
    std::string key, value;
    words >> key;
    std::getline(words >> std::ws, value);
    const auto end = value.find_last_not_of(" \t\r");
    value.resize(end == std::string::npos ? 0 : end + 1);
    return {std::move(key), std::move(value)};
}

std::vector<std::string> shell_words(const std::string& value) {
    // No shell has the variables of this file here. Also, glibc's wordexp() reads NULL at "$[" without an
    // end.
    if (value.find_first_of("$`") != std::string::npos) return {};
    wordexp_t expanded{};
    std::vector<std::string> words;
    if (::wordexp(value.c_str(), &expanded, WRDE_NOCMD | WRDE_UNDEF) == 0)
        words.assign(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
    ::wordfree(&expanded);
    return words;
}

std::optional<std::int64_t> milliseconds_of(std::string_view time, std::string_view usual_unit) {
    struct Unit {
        std::string_view name;
        double milliseconds;
    };
    constexpr std::array units{Unit{"us", 1e-3}, Unit{"usec", 1e-3}, Unit{"ms", 1},    Unit{"msec", 1},
                               Unit{"s", 1e3},   Unit{"sec", 1e3},   Unit{"m", 6e4},   Unit{"min", 6e4},
                               Unit{"h", 3.6e6}, Unit{"hr", 3.6e6},  Unit{"d", 8.64e7}};
    double sum = 0;
    time = trimmed(time);
    if (time.empty()) return std::nullopt;
    while (!time.empty()) {
        double number = 0;
        const auto [rest, error] = std::from_chars(time.begin(), time.end(), number);
        if (error != std::errc() || !(number >= 0)) return std::nullopt;
        time = trimmed(std::string_view(rest, time.end()));
        const auto end = std::min(time.find_first_of(" \t0123456789"), time.size());
        const auto unit = end == 0 ? usual_unit : time.substr(0, end);
        const auto* const found = std::ranges::find(units, unit, &Unit::name);
        if (found == units.end()) return std::nullopt;
        sum += number * found->milliseconds;
        time = trimmed(time.substr(end));
    }
    return sum < 1e12 ? std::optional(std::llround(sum)) : std::nullopt;
}

} // namespace teamo::ctl
