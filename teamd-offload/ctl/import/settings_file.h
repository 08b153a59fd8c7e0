// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Files of "KEY=VALUE" lines, with or without sections: systemd-networkd, NetworkManager, ifcfg.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teamo::ctl {

struct Setting {
    std::string section; ///< "" before the first one
    std::string key, value;
};
using Settings = std::vector<Setting>;

/// A backslash at the end of a line joins the next one to it.
std::string with_joined_lines(std::string text);

/// Lines that are no setting are ignored, as by the programs that these files belong to.
Settings read_settings(std::string_view text);

/// An ifcfg file, and not a copy that an editor or rpm left.
bool is_ifcfg(const std::filesystem::path& path);

/// The last one of that name; none: there is none.
std::optional<std::string> find(const Settings& settings, std::string_view section, std::string_view key);

/// The first word of a line of interfaces(5), and the rest without blanks at both ends.
std::pair<std::string, std::string> interfaces_option(const std::string& line);

/// Of ifcfg and ifupdown: the words of a value that is quoted for the shell, without quotes. None if it can
/// be read only by a shell: "$NAME", "$(command)".
std::vector<std::string> shell_words(const std::string& value);

/// Milliseconds of a time as systemd writes it: "100ms", "1s 500ms", or seconds without a unit. None: it is
/// no such time.
std::optional<std::int64_t> milliseconds_of(std::string_view time, std::string_view usual_unit);

} // namespace teamo::ctl
