// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/parse.h"
#include "json/write.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

namespace teamo::json {

void PrintTo(const Place& place, std::ostream* out) { *out << place.line << ':' << place.column; }
void PrintTo(const SyntaxError& error, std::ostream* out) {
    PrintTo(error.place, out);
    *out << ": " << error.text;
}

namespace {

using testing::HasSubstr;

SyntaxError error_of(std::string_view text, Limits limits = {}) {
    const auto read = parse(text, limits);
    return read ? SyntaxError{{}, "read as " + write(*read, {.indent = 0})} : read.error();
}

TEST(JsonParser, reads_every_kind_of_value) {
    EXPECT_EQ(
        parse(R"({"a": null, "b": [true, false], "c": -12, "d": 1.5, "e": "x", "f": {}})"),
        Value(Object{
            {"a", nullptr}, {"b", Array{true, false}}, {"c", -12}, {"d", 1.5}, {"e", "x"}, {"f", Object{}}}));
    EXPECT_EQ(parse(" [ ] "), Value(Array{}));
}

TEST(JsonParser, keeps_order_of_members) {
    EXPECT_EQ(write(parse(R"({"z": 1, "a": 2})").value(), {.indent = 0, .sort_keys = false}),
              R"({"z": 1, "a": 2})");
}

TEST(JsonParser, records_place_of_names_and_values) {
    const auto root =
        parse("\n{\"a\":1,\n\t\"b\" : [ true,\r\n\"x\\\"y\", -1.5e3, {} ],\n  \"c\":{\"d\":null}}").value();
    const auto& members = *root.object();
    const auto& list = *members[1].value.array();
    EXPECT_EQ(root.place(), (Place{2, 1}));
    EXPECT_EQ(members[0].key_place, (Place{2, 2}));
    EXPECT_EQ(members[0].value.place(), (Place{2, 6}));
    EXPECT_EQ(members[1].key_place, (Place{3, 2}));
    EXPECT_EQ(members[1].value.place(), (Place{3, 8}));
    EXPECT_EQ(list[0].place(), (Place{3, 10}));
    EXPECT_EQ(list[1].place(), (Place{4, 1}));
    EXPECT_EQ(list[2].place(), (Place{4, 9}));
    EXPECT_EQ(list[3].place(), (Place{4, 17}));
    EXPECT_EQ(members[2].key_place, (Place{5, 3}));
    EXPECT_EQ(members[2].value.find("d")->place(), (Place{5, 12}));
}

TEST(JsonParser, counts_columns_in_bytes) {
    EXPECT_EQ(parse("[\"\u20ac\", 1]").value().array()->at(1).place(), (Place{1, 9}));
}

TEST(JsonParser, rejects_invalid_json_with_place) {
    const std::tuple<std::string_view, Place, std::string_view> cases[] = {
        {"", {1, 1}, "the text is empty"},
        {" \n ", {2, 2}, "the text is empty"},
        {"{", {1, 2}, "the text ends too early: the document is incomplete"},
        {"{\"a\": 1", {1, 8}, "the text ends too early: the document is incomplete"},
        {"{\"a\": ", {1, 7}, "the text ends too early: the document is incomplete"},
        {"[1, 2", {1, 6}, "the text ends too early: the document is incomplete"},
        {"{}\n{}", {2, 1}, "something follows the end of the document"},
        {"{a: 1}", {1, 2}, "a name in double quotes is expected here"},
        {"{'a': 1}", {1, 2}, "a name in double quotes is expected here"},
        {"{\"a\": 1,}", {1, 8}, "a comma before '}': nothing follows it; remove it"},
        {"{\"a\" 1}", {1, 6}, "':' is expected after a name"},
        {"{\"a\": 1 \"b\": 2}", {1, 9}, "',' or '}' is expected here"},
        {"[1 2]", {1, 4}, "',' or ']' is expected here"},
        {"[1,\n]", {1, 3}, "a comma before ']': nothing follows it; remove it"},
        {"[]]", {1, 3}, "something follows the end of the document"},
        {"[nul]", {1, 5}, "a value is expected here"},
        {"[// no comments\n]", {1, 2}, "a comment; JSON has none: remove it"},
        {"/* no comments */ {}", {1, 1}, "a comment; JSON has none: remove it"},
        {"{\"a\": 1 # none\n}", {1, 9}, "a comment; JSON has none: remove it"},
        {"{\"a\": 1,\n// none\n\"b\": 2}", {2, 1}, "a comment; JSON has none: remove it"},
        {"{\"a\" /* none */: 1}", {1, 6}, "a comment; JSON has none: remove it"},
        {"{}\n// none", {2, 1}, "a comment; JSON has none: remove it"},
        {"[+1]", {1, 2}, "a value is expected here"},
        {"[NaN]", {1, 2}, "a value is expected here"},
        {"[01]", {1, 3}, "',' or ']' is expected here"},
        {"[1.]", {1, 4}, "a digit is expected after the decimal point"},
        {"[1e]", {1, 4}, "a digit is expected in the exponent"},
        {"[\"abc]", {1, 2}, "this string has no closing quote"},
        {"[\"a\\x\"]", {1, 4}, "unknown escape sequence"},
        {"[\"a\tb\"]", {1, 4}, "a control character in a string must be escaped"},
        {"[\"\\u12g4\"]", {1, 3}, "\\u needs four hexadecimal digits"},
        {"\xef\xbb\xbf{}", {1, 1}, "a value is expected here"},
    };
    for (const auto& [text, place, message] : cases)
        EXPECT_EQ(error_of(text), (SyntaxError{place, std::string(message)})) << text;
}

TEST(JsonParser, requires_object_or_array_at_top_like_jansson) {
    for (const auto* text : {"1", "-1.5", "\"x\"", "true", "null"})
        EXPECT_THAT(error_of(text).text, HasSubstr("an object or an array is expected, not")) << text;
}

TEST(JsonParser, rejects_duplicate_names) {
    EXPECT_EQ(error_of("{\"a\": 1,\n \"b\": 2,\n \"b\": 3, \"a\": 4}"),
              (SyntaxError{{3, 2}, "this object has the name \"b\" twice"}));
    EXPECT_EQ(error_of(R"({"x": {"a": 1, "\u0061": 2}})"),
              (SyntaxError{{1, 16}, "this object has the name \"a\" twice"}));
    EXPECT_TRUE(parse(R"([{"a": 1}, {"a": 1}])"));
}

TEST(JsonParser, accepts_integers_up_to_64_bits) {
    EXPECT_EQ(parse("[9223372036854775807, -9223372036854775808, -0]"),
              Value(Array{std::int64_t{9223372036854775807}, std::numeric_limits<std::int64_t>::min(), 0}));
    for (const auto* text : {"[9223372036854775808]", "[-9223372036854775809]", "[18446744073709551616]"})
        EXPECT_THAT(error_of(text).text, HasSubstr("does not fit 64 bits")) << text;
    EXPECT_EQ(error_of("[" + std::string(1000, '9') + "]").place, (Place{1, 2}));
}

TEST(JsonParser, reads_reals_exactly) {
    EXPECT_EQ(parse("[0.1, 1e2, 1E+2, -2.5e-3, 1e-400, 5e-324]"),
              Value(Array{0.1, 100.0, 100.0, -0.0025, 0.0, 5e-324}));
    EXPECT_EQ(error_of("[1e309]"), (SyntaxError{{1, 2}, "the number is too big"}));
    EXPECT_EQ(error_of("[1.8e308]"), (SyntaxError{{1, 2}, "the number is too big"}));
    EXPECT_EQ(parse("[0." + std::string(400, '0') + "1e5]"), Value(Array{0.0}));
    EXPECT_TRUE(parse("[0." + std::string(10000, '0') + "1e-2147483647]"));
}

TEST(JsonParser, unescapes_strings) {
    EXPECT_EQ(parse(R"(["\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00"])"),
              Value(Array{"\"\\/\b\f\n\r\t\u00e4\U0001F600"}));
}

TEST(JsonParser, rejects_nul_and_invalid_utf8) {
    EXPECT_EQ(error_of("[1, \"a\\u0000b\"]"), (SyntaxError{{1, 5}, "\\u0000 is not allowed in a string"}));
    EXPECT_EQ(error_of("{\"\\u0000\": 1}"), (SyntaxError{{1, 2}, "\\u0000 is not allowed in a string"}));
    EXPECT_EQ(error_of(std::string_view("{}\n\0", 4)), (SyntaxError{{2, 1}, "a NUL byte is not allowed"}));
    for (const auto* text : {R"(["\ud800"])", R"(["\ud800\u0041"])", R"(["\udc00"])"})
        EXPECT_EQ(error_of(text).text, "half a surrogate pair is not a character") << text;
    for (const auto* text :
         {"[\"\xff\"]", "[\"\xc0\x80\"]", "[\"\xed\xa0\x80\"]", "[\"\xf4\x90\x80\x80\"]", "[\"\xc3\"]"})
        EXPECT_EQ(error_of(text), (SyntaxError{{1, 3}, "these bytes are not UTF-8"}));
}

TEST(JsonParser, limits_depth) {
    const std::string deepest = std::string(64, '[') + std::string(64, ']');
    EXPECT_TRUE(parse(deepest));
    EXPECT_EQ(error_of(std::string(1'000'000, '[')),
              (SyntaxError{{1, 65}, "objects and arrays are nested more than 64 deep"}));
    EXPECT_TRUE(parse("[[]]", {.depth = 2}));
    EXPECT_FALSE(parse("[[]]", {.depth = 1}));
}

TEST(JsonParser, limits_size) {
    EXPECT_TRUE(parse("[1]", {.bytes = 3}));
    EXPECT_EQ(error_of("[10]", {.bytes = 3}), (SyntaxError{{1, 1}, "the text has 4 bytes; the limit is 3"}));
}

TEST(JsonParser, reads_100000_members) {
    std::string text = "{";
    for (int number = 0; number < 100'000; ++number)
        text += fmt::format("\"{}\":1,", number);
    text.back() = '}';
    EXPECT_EQ(parse(text).value().object()->size(), 100'000U);
}

TEST(JsonParser, survives_random_damage) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const std::string_view whole =
        R"({"device": "team0", "n": [-1, 2.5e-3, true, null, {"\u00e4\ud83d\ude00": "x\\\n"}]})";
    for (int round = 0; round < 20'000; ++round) {
        std::string text(whole);
        for (auto times = random() % 4; times < 5; ++times) {
            const auto at = random() % text.size();
            switch (random() % 3) {
            case 0: text[at] = static_cast<char>(random()); break;
            case 1: text.insert(at, 1, whole[random() % whole.size()]); break;
            default: text.erase(at, 1 + random() % 3); break;
            }
        }
        const auto read = parse(text);
        if (read)
            ASSERT_EQ(parse(write(*read, {.indent = 0, .sort_keys = false})), *read);
        else
            for (const char letter : read.error().text)
                ASSERT_GE(static_cast<unsigned char>(letter), 0x20) << text;
    }
}

} // namespace
} // namespace teamo::json
