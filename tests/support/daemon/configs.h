// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Builds configurations for tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace teamo::test {

/// The object "ports" with these ports, each with `port_options`.
inline std::string ports_object(const std::vector<std::string>& names, std::string_view port_options = "{}") {
    std::string object;
    for (const auto& name : names)
        object += fmt::format("{}\"{}\": {}", object.empty() ? "" : ", ", name, port_options);
    return "{" + object + "}";
}

/// `more`: further members of the top object, each followed by a comma.
inline std::string team_config(std::string_view runner, std::string_view ports, std::string_view more = "",
                               std::string_view device = "team0") {
    return fmt::format(R"({{{}"device": "{}", "runner": {}, "ports": {}}})", more, device, runner, ports);
}

inline constexpr std::string_view by_flow =
                                      R"({"name": "loadbalance", "tx_hash": ["eth", "ipv4", "ipv6", "l4"]})",
                                  by_mac = R"({"name": "loadbalance", "tx_hash": ["eth"]})",
                                  activebackup = R"({"name": "activebackup"})";

} // namespace teamo::test
