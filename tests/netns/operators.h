// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What teamoctl is asked, as an administrator types it.
#pragma once

#include "support/team_under_test.h"

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

} // namespace teamo::test
