// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/quote.h"

#include <gmock/gmock.h>

namespace teamo::json {
namespace {

TEST(Quote, shows_unprintable_characters_as_escapes) {
    EXPECT_EQ(printable("eth1.100 \u00e4\u20ac"), "eth1.100 \u00e4\u20ac");
    EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\u000ab\\u001b[31m\\u007f");
    EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(printable("\xc2\x9b"
                        "2J"),
              "\\u009b2J"); // the C1 form of ESC [
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "txt"),
              "\\u202etxt"); // right-to-left override
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
}

TEST(Quote, escapes_quotes_and_shortens_long_text) {
    EXPECT_EQ(quote("a\"b\\"), R"("a\"b\\")");
    EXPECT_EQ(quote(std::string(1000, 'x')), '"' + std::string(79, 'x') + "…\"");
}

} // namespace
} // namespace teamo::json
