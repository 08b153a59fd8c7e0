// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The manual page documents every key of the reader with its default, and no other key.
#include "config/keys.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <sstream>

namespace teamo::config {
namespace {

std::string page() {
    std::ifstream file(TEAMO_SOURCE_DIR "/man/teamd-offload.conf.5");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(ManPage, documents_every_key_with_default_and_words) {
    const auto text = page();
    for (const auto& key : keys()) {
        if (key.path == "ports.PORTIFNAME") continue; // its members are listed
        const auto item = text.find("\n.It Cm " + std::string(key.path) + "\n");
        ASSERT_NE(item, std::string::npos) << key.path;
        const auto entry = text.substr(item + 1, text.find("\n.It Cm ", item + 1) - item - 1);
        EXPECT_THAT(entry, testing::HasSubstr(std::string(name_of(key.rules.shape)))) << key.path;
        if (const auto fallback = text_of(key.rules.fallback); !fallback.empty()) {
            EXPECT_THAT(entry, testing::HasSubstr("default " + fallback)) << key.path;
        }
        for (const auto word : key.rules.words)
            EXPECT_THAT(entry, testing::HasSubstr(std::string(word))) << key.path;
    }
}

TEST(ManPage, documents_no_unknown_key) {
    std::stringstream text(page());
    const std::string start = ".It Cm ";
    for (std::string line; std::getline(text, line);)
        if (line.starts_with(start)) {
            EXPECT_NE(find_key(line.substr(start.size())), nullptr) << line;
        }
}

} // namespace
} // namespace teamo::config
