// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/read_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace teamo::bench {
namespace {

TEST(BenchMachine, names_the_tables_of_nftables_with_the_most_rules_first) {
    EXPECT_EQ(nftables_text({}), "none");
    EXPECT_EQ(nftables_text({{"inet filter", 8}}), "inet filter: 8 rules");
    EXPECT_EQ(nftables_text({{"inet filter", 1}, {"ip nat", 3}}), "ip nat: 3 rules; inet filter: 1 rule");
    EXPECT_EQ(nftables_text({{"inet \x1b", 2}}), "inet \\u001b: 2 rules") << "a terminal obeys it";
}

TEST(BenchMachine, names_eight_tables_at_the_most) {
    NftablesRules rules;
    for (unsigned number = 1; number <= 10; ++number)
        rules[fmt::format("ip t{}", number)] = number;
    EXPECT_EQ(nftables_text(rules),
              "ip t10: 10 rules; ip t9: 9 rules; ip t8: 8 rules; ip t7: 7 rules; ip t6: 6 rules; "
              "ip t5: 5 rules; ip t4: 4 rules; ip t3: 3 rules; and 2 more tables");
}

} // namespace
} // namespace teamo::bench
