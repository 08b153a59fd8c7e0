// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The examples in conf/ show every key that teamd does not have.
#include "config/keys.h"
#include "support.h"

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

} // namespace
} // namespace teamo
