// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/name_set.h"

#include <gmock/gmock.h>

#include <string>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NameSet, is_sorted_and_has_each_name_once) {
    NameSet set{"tso", "gro", "tso"};
    set.insert("lro");
    set.insert("gro");
    EXPECT_THAT(set, ElementsAre("gro", "lro", "tso"));
    EXPECT_TRUE(set.contains("lro"));
    set.insert({"uso", "tso"});
    EXPECT_EQ(4U, set.size());
    EXPECT_EQ(1U, set.erase("lro"));
    EXPECT_EQ(0U, set.erase("lro"));
    EXPECT_FALSE(set.contains("lro"));
}

TEST(NameSet, keeps_the_letters_of_a_name_that_is_gone) {
    NameSet set, other;
    {
        const std::string name = "a name that is longer than a short string";
        set.insert(name);
        other.insert(std::string(name));
    }
    EXPECT_THAT(set, ElementsAre("a name that is longer than a short string"));
    EXPECT_EQ(set.begin()->data(), other.begin()->data()) << "in memory once";
}

TEST(NameSet, is_compared_with_others) {
    const NameSet one{"a", "b", "c"}, other{"b", "c", "d"};
    EXPECT_THAT(one.without(other), ElementsAre("a"));
    EXPECT_THAT(one.common_with(other), ElementsAre("b", "c"));
    EXPECT_THAT(one.without(one), IsEmpty());
    auto both = one;
    both.add(other);
    EXPECT_EQ((NameSet{"d", "c", "b", "a"}), both);
}

} // namespace
} // namespace teamo
