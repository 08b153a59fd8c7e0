// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs teamoctl with a command line as an administrator types it.
#pragma once

#include "support/daemon/team_under_test.h"
#include "support/net/net_ns.h"

#include <sstream>

namespace teamo::test {

using Words = std::vector<std::string>;

inline Words words_of(const std::string& line) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

inline Output ask(const TeamUnderTest& team, const std::string& line, const Words& options = {}) {
    return team.teamoctl(words_of(line), options);
}

/// Whether a port has TSO: "on" or "off".
inline std::string tso_of(const NetNs& in, const std::string& port) {
    const auto said = must(in, fmt::format("ethtool -k {} | grep 'tx-tcp-segmentation:'", port));
    return words_of(said).at(1);
}

} // namespace teamo::test
