// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What users and programs rely on, in files of tests/outside (outside.sh).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace teamo::test {

/// TEAMO_RENEW writes the file instead.
inline void expect_as_in_snapshot(const std::string& name, const std::string& text) {
    const auto path = TEAMO_SOURCE_DIR "/tests/outside/" + name;
    if (const auto* renew = std::getenv("TEAMO_RENEW"); renew != nullptr && *renew != '\0') {
        std::ofstream(path) << text;
        return;
    }
    std::stringstream snapshot;
    snapshot << std::ifstream(path).rdbuf();
    EXPECT_EQ(snapshot.str(), text) << "users rely on " << path << " (tests/outside/outside.sh)";
}

} // namespace teamo::test
