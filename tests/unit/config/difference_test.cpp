// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/difference.h"
#include "json/parse.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

std::vector<std::string> lines(std::string_view from, std::string_view to) {
    std::vector<std::string> list;
    for (const auto& difference : differences(*json::parse(from), *json::parse(to)))
        list.push_back(text_of(difference));
    return list;
}

TEST(Differences, are_named_by_key) {
    EXPECT_THAT(
        lines(R"({"a": 1, "b": {"c": [1, 2], "d": true}, "e": null})",
              R"({"b": {"c": [2, 1], "f": "x"}, "a": 2, "e": null})"),
        testing::ElementsAre("/a: 1 -> 2", "/b/c: [1, 2] -> [2, 1]", "/b/d: removed", "/b/f: added \"x\""));
}

TEST(Differences, do_not_depend_on_order) {
    EXPECT_THAT(lines(R"({"a": 1, "b": 2})", R"({"b": 2, "a": 1})"), testing::IsEmpty());
}

TEST(Differences, show_an_object_that_takes_the_place_of_a_value) {
    EXPECT_THAT(lines(R"({"link_watch": [{"name": "ethtool"}]})", R"({"link_watch": {"name": "ethtool"}})"),
                testing::ElementsAre("/link_watch: [{\"name\": \"ethtool\"}] -> {\"name\": \"ethtool\"}"));
}

TEST(Differences, escape_names) {
    EXPECT_THAT(lines(R"({})", R"({"a/b~c": 1})"), testing::ElementsAre("/a~1b~0c: added 1"));
    // These lines are written to the log and to terminals.
    EXPECT_THAT(lines(R"({})", R"({"a\u001b[2J": "\u007f\n"})"),
                testing::ElementsAre("/a\\u001b[2J: added \"\\u007f\\n\""));
}

} // namespace
} // namespace teamo
