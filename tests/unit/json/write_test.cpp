// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The expected texts are those of libjansson 2.14 for the same values with JSON_INDENT(4) or none,
// JSON_ENSURE_ASCII and JSON_SORT_KEYS.
#include "json/write.h"

#include <gmock/gmock.h>

#include <limits>

namespace teamo::json {
namespace {

std::string line_of(const Value& value) { return write(value, {.indent = 0}); }
std::string element(const Value& value) {
    const auto line = line_of(Array{value});
    return line.substr(1, line.size() - 2);
}

TEST(JsonWriter, indents_and_sorts_like_teamd) {
    EXPECT_EQ(write(Object{{"ports", Object{{"eth2", Object{}}, {"eth10", Array{}}, {"eth1", Array{1, 2}}}},
                           {"device", "team0"}}),
              "{\n"
              "    \"device\": \"team0\",\n"
              "    \"ports\": {\n"
              "        \"eth1\": [\n"
              "            1,\n"
              "            2\n"
              "        ],\n"
              "        \"eth10\": [],\n"
              "        \"eth2\": {}\n"
              "    }\n"
              "}");
}

TEST(JsonWriter, writes_one_line_without_indent) {
    EXPECT_EQ(line_of(Object{{"b", Array{true, nullptr}}, {"a", Object{}}}),
              R"({"a": {}, "b": [true, null]})");
}

TEST(JsonWriter, keeps_order_if_not_sorted) {
    EXPECT_EQ(write(Object{{"b", 1}, {"a", 2}}, {.indent = 0, .sort_keys = false}), R"({"b": 1, "a": 2})");
}

TEST(JsonWriter, sorts_names_by_bytes) {
    EXPECT_EQ(line_of(Object{{"\u00e9", 1}, {"z", 2}, {"Z", 3}, {"", 4}}),
              R"({"": 4, "Z": 3, "z": 2, "\u00E9": 1})");
}

TEST(JsonWriter, escapes_like_jansson) {
    const std::pair<std::string, std::string> cases[] = {
        {"/", R"("/")"},
        {"\"\\", R"("\"\\")"},
        {"\b\f\n\r\t", R"("\b\f\n\r\t")"},
        {"\x01\x1f", R"("\u0001\u001F")"},
        {"\x7f", "\"\x7f\""},
        {"\u00e4\u20ac", R"("\u00E4\u20AC")"},
        {"\U0001F600", R"("\uD83D\uDE00")"},
        {"a\xff"
         "b",
         R"("a\uFFFDb")"}, // jansson makes no such string; a device's name can have such bytes
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(element(text), expected);
}

TEST(JsonWriter, prints_numbers_like_jansson) {
    const std::pair<Value, std::string> cases[] = {
        {0, "0"},
        {-10, "-10"},
        {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808"},
        {1.0, "1.0"},
        {-0.0, "-0.0"},
        {0.1, "0.10000000000000001"},
        {1e20, "1e20"},
        {1.5e-7, "1.4999999999999999e-7"},
        {1e-10, "1e-10"},
        {1e100, "1e100"},
        {123456789012345680.0, "1.2345678901234568e17"},
        {std::numeric_limits<double>::infinity(), "null"},
    };
    for (const auto& [number, expected] : cases)
        EXPECT_EQ(element(number), expected);
}

} // namespace
} // namespace teamo::json
