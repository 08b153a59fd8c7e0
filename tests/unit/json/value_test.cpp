// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/value.h"

#include <gmock/gmock.h>

namespace teamo::json {
namespace {

TEST(Value, finds_members_by_their_exact_name) {
    const Value value(Object{{"eth1", 1}, {"eth1.100", 2}});
    ASSERT_NE(value.find("eth1.100"), nullptr);
    EXPECT_EQ(*value.find("eth1.100"), Value(2));
    EXPECT_EQ(value.find("eth"), nullptr);
    EXPECT_EQ(Value("text").find("eth1"), nullptr);
}

TEST(Value, sets_a_member_in_its_place_or_at_the_end) {
    Value value(Object{{"a", 1}, {"b", 2}});
    value.set("a", "new");
    value.set("c", Array{nullptr});
    EXPECT_EQ(value, Value(Object{{"a", "new"}, {"b", 2}, {"c", Array{nullptr}}}));
}

TEST(Value, that_is_no_object_becomes_one_when_a_member_is_set) {
    Value value("text");
    value.set("a", true);
    EXPECT_EQ(value, Value(Object{{"a", true}}));
}

TEST(Value, loses_a_member_once) {
    Value value(Object{{"a", 1}, {"b", 2}});
    EXPECT_TRUE(value.erase("a"));
    EXPECT_FALSE(value.erase("a"));
    EXPECT_FALSE(Value(1).erase("a"));
    EXPECT_EQ(value, Value(Object{{"b", 2}}));
}

TEST(Value, compares_by_content_and_not_by_place) {
    Value here(1), there(1);
    there.set_place({3, 4});
    EXPECT_EQ(here, there);
    EXPECT_NE(Value(1), Value(1.0));
    EXPECT_NE(Value(false), Value(nullptr));
    EXPECT_NE(Value(Object{{"a", 1}, {"b", 2}}), Value(Object{{"b", 2}, {"a", 1}}));
}

TEST(Value, says_what_it_is) {
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
