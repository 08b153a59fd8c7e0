// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/udev_policy.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string file = "/etc/systemd/network/10-lan.link", dropin = file + ".d/irq.conf";

std::optional<UdevIrqPolicy> policy(const std::string& text, const std::optional<std::string>& after = {}) {
    std::vector<ConfigText> files{{file, text}};
    if (after) files.push_back({dropin, *after});
    return find_udev_irq_policy(files);
}

TEST(UdevIrqPolicy, reads_link_section) {
    const UdevIrqPolicy spread{file, "IRQAffinityPolicy=spread"};
    EXPECT_EQ(spread, policy("[Match]\nOriginalName=*\n\n[Link]\nMTUBytes=9000\nIRQAffinityPolicy=spread\n"));
    EXPECT_EQ(spread, policy("[Link]\n  IRQAffinityPolicy = spread \t"));
    EXPECT_EQ(spread, policy("[Link]\nIRQAffinityPolicy=\\\n# between\nspread\n"));
    EXPECT_EQ(spread,
              policy("[Link]\nIRQAffinityPolicy=single\n[Match]\nHost=a\n[Link]\nIRQAffinityPolicy=spread"));
}

TEST(UdevIrqPolicy, is_absent_without_policy) {
    for (const auto* text :
         {"", "[Link]\n", "[Match]\nIRQAffinityPolicy=spread\n", "[Link]\n#IRQAffinityPolicy=spread\n",
          "[Link]\n ; IRQAffinityPolicy=spread\n", "[Link]\nIRQAffinity=0-3\nIRQAffinityNUMA=0\n",
          "[Link]\nIRQAffinityPolicy=spread\nIRQAffinityPolicy=\n", "IRQAffinityPolicy=spread\n"})
        EXPECT_EQ(std::nullopt, policy(text)) << text;
}

TEST(UdevIrqPolicy, prefers_drop_in) {
    const std::string text = "[Link]\nIRQAffinityPolicy=spread\n";
    EXPECT_EQ((UdevIrqPolicy{dropin, "IRQAffinityPolicy=single"}),
              policy(text, "[Link]\nIRQAffinityPolicy=single"));
    EXPECT_EQ((UdevIrqPolicy{file, "IRQAffinityPolicy=spread"}), policy(text, "[Link]\nIRQAffinity=3"));
    EXPECT_EQ(std::nullopt, policy(text, "[Link]\nIRQAffinityPolicy="));
}

TEST(UdevIrqPolicy, splits_paths_at_colons) {
    EXPECT_THAT(parse_udev_paths(""), IsEmpty());
    EXPECT_THAT(parse_udev_paths("/a.conf:/b.conf"), ElementsAre("/a.conf", "/b.conf"));
    EXPECT_THAT(parse_udev_paths("/a\\:b\\\\.conf"), ElementsAre("/a:b\\.conf"));
    EXPECT_THAT(parse_udev_paths(":/a:\\"), ElementsAre("/a", "\\"));
}

} // namespace
} // namespace teamo
