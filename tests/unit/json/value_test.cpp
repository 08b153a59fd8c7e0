// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/value.h"

#include <gmock/gmock.h>

namespace teamo::json {
namespace {

TEST(JsonValue, finds_members_by_exact_name) {
    const Value value(Object{{"eth1", 1}, {"eth1.100", 2}});
    ASSERT_NE(value.find("eth1.100"), nullptr);
    EXPECT_EQ(*value.find("eth1.100"), Value(2));
    EXPECT_EQ(value.find("eth"), nullptr);
    EXPECT_EQ(Value("text").find("eth1"), nullptr);
}

TEST(JsonValue, replaces_or_appends_member) {
    Value value(Object{{"a", 1}, {"b", 2}});
    value.set("a", "new");
    value.set("c", Array{nullptr});
    EXPECT_EQ(value, Value(Object{{"a", "new"}, {"b", 2}, {"c", Array{nullptr}}}));
}

TEST(JsonValue, becomes_object_when_member_is_set) {
    Value value("text");
    value.set("a", true);
    EXPECT_EQ(value, Value(Object{{"a", true}}));
}

TEST(JsonValue, erases_member_once) {
    Value value(Object{{"a", 1}, {"b", 2}});
    EXPECT_TRUE(value.erase("a"));
    EXPECT_FALSE(value.erase("a"));
    EXPECT_FALSE(Value(1).erase("a"));
    EXPECT_EQ(value, Value(Object{{"b", 2}}));
}

TEST(JsonValue, compares_content_and_not_place) {
    Value here(1), there(1);
    there.set_place({3, 4});
    EXPECT_EQ(here, there);
    EXPECT_NE(Value(1), Value(1.0));
    EXPECT_NE(Value(false), Value(nullptr));
    EXPECT_NE(Value(Object{{"a", 1}, {"b", 2}}), Value(Object{{"b", 2}, {"a", 1}}));
}

TEST(JsonValue, names_its_type) {
    EXPECT_EQ(type_of(Value(nullptr)), "null");
    EXPECT_EQ(type_of(Value(true)), "a boolean");
    EXPECT_EQ(type_of(Value(1)), "an integer");
    EXPECT_EQ(type_of(Value(1.5)), "a real number");
    EXPECT_EQ(type_of(Value("")), "a string");
    EXPECT_EQ(type_of(Value(Array{})), "an array");
    EXPECT_EQ(type_of(Value(Object{})), "an object");
}

} // namespace
} // namespace teamo::json
