// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config_file.h"
#include "json/parse.h"

#include <gmock/gmock.h>

namespace teamo {

/// Every diagnostic as printed, without the file name.
inline std::vector<std::string> complaints(const ConfigurationRead& read) {
    std::vector<std::string> lines;
    for (const auto& diagnostic : read.diagnostics)
        lines.push_back(text_of(diagnostic, "F").substr(2));
    return lines;
}
inline std::vector<std::string> complaints(std::string_view text, std::string_view device = {}) {
    return complaints(read_configuration(text, device));
}

/// The configuration of a text that must have no errors.
inline Configuration configuration(std::string_view text, std::string_view device = {}) {
    auto read = read_configuration(text, device);
    EXPECT_THAT(complaints(read), testing::IsEmpty()) << text;
    return read.configuration.value();
}
inline TeamConfig team(std::string_view text) { return configuration(text).team; }
inline PortConfig port(std::string_view text, std::string_view runner = "roundrobin") {
    return team(fmt::format(R"({{"runner": {{"name": "{}"}}, "ports": {{"eth1": {}}}}})", runner, text))
        .ports.at(0)
        .second;
}

/// The result of --check and of a start for a text.
enum class Verdict { good, tolerated, refused };
inline void PrintTo(Verdict verdict, std::ostream* out) {
    *out << (verdict == Verdict::good ? "good" : verdict == Verdict::tolerated ? "tolerated" : "refused");
}
inline Verdict verdict(std::string_view text) {
    const auto read = read_configuration(text);
    if (!read.configuration) return Verdict::refused;
    return read.has_errors() ? Verdict::tolerated : Verdict::good;
}

} // namespace teamo
