// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The examples in conf/ show every key that teamd does not have, and are those of the manual.
#include "config/keys.h"
#include "support.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace teamo {
namespace {

using config::Key;
using config::Shape;

/// The keys of teamd.conf(5), each with all its members; "ports" has members of ours too.
constexpr std::string_view teamd_keys[] = {"device",
                                           "debug_level",
                                           "hwaddr",
                                           "runner",
                                           "notify_peers",
                                           "mcast_rejoin",
                                           "link_watch_policy",
                                           "link_watch",
                                           "ports.PORTIFNAME.queue_id",
                                           "ports.PORTIFNAME.prio",
                                           "ports.PORTIFNAME.sticky",
                                           "ports.PORTIFNAME.lacp_prio",
                                           "ports.PORTIFNAME.lacp_key",
                                           "ports.PORTIFNAME.link_watch"};

bool is_teamd_key(std::string_view path) {
    if (path == "ports" || path == "ports.PORTIFNAME") return true;
    return std::ranges::any_of(teamd_keys, [&](std::string_view known) {
        return path == known || path.starts_with(std::string(known) + ".");
    });
}

/// Adds the paths of the keys that an object of the table's `path` has, with those below them.
void add_keys(std::set<std::string_view>& paths, const json::Value& object, std::string_view path) {
    for (const auto& member : *object.object()) {
        const auto* key = config::find_member(path, member.key);
        if (key == nullptr) continue; // --check warns about it, which fails its own test
        paths.insert(key->path);
        if (key->rules.shape == Shape::object) add_keys(paths, member.value, key->inner());
        if (key->rules.shape == Shape::objects)
            for (const auto& element : *member.value.array())
                add_keys(paths, element, key->inner());
        if (key->rules.shape == Shape::ports)
            for (const auto& port : *member.value.object())
                add_keys(paths, port.value, "ports.PORTIFNAME");
    }
}

TEST(Examples, show_every_key_that_teamd_does_not_have) {
    std::set<std::string_view> shown;
    for (const auto& example : std::filesystem::directory_iterator(TEAMO_SOURCE_DIR "/conf")) {
        if (example.path().extension() != ".json") continue;
        std::stringstream text;
        text << std::ifstream(example.path()).rdbuf();
        const auto document = json::parse(text.str());
        ASSERT_TRUE(document) << example.path();
        add_keys(shown, *document, "");
    }
    for (const auto& key : config::keys()) {
        if (is_teamd_key(key.path)) continue;
        EXPECT_TRUE(shown.contains(key.path)) << "no file in conf/ has " << key.path;
    }
}

std::string text_of_file(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// What teamd-offload(8) shows after ".Pa NAME.json :".
std::vector<std::pair<std::string, std::string>> examples_of_manual() {
    std::vector<std::pair<std::string, std::string>> examples;
    std::istringstream page(text_of_file(TEAMO_SOURCE_DIR "/man/teamd-offload.8"));
    for (std::string line, title; std::getline(page, line); title = line) {
        if (line != ".Bd -literal -offset indent" || !title.ends_with(".json :")) continue;
        examples.emplace_back(title.substr(4, title.size() - 6), "");
        while (std::getline(page, line) && line != ".Ed")
            examples.back().second += line + "\n";
    }
    return examples;
}

TEST(Examples, of_the_manual_are_files) {
    std::vector<std::string> names;
    for (const auto& [name, text] : examples_of_manual()) {
        names.push_back(name);
        EXPECT_EQ(text_of_file(TEAMO_SOURCE_DIR "/conf/" + name), text) << name;
    }
    EXPECT_THAT(names, testing::ElementsAre("mac-hash.json", "lacp.json", "bond.json", "activebackup.json",
                                            "slb.json", "storage.json", "router.json"));
}

} // namespace
} // namespace teamo
