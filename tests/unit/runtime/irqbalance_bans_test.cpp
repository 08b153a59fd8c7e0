// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/irqbalance_bans.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Reads the first bytes of a request with strtoul in a loop, as irqbalance does. A zero ends the list unless
/// it comes first.
BannedIrqs as_irqbalance_reads(std::string request, std::size_t buffer) {
    request.resize(std::min(request.size(), buffer));
    const std::string_view before = "settings ban irqs ";
    EXPECT_TRUE(request.starts_with(before)) << request;
    BannedIrqs irqs;
    char* end = request.data() + before.size();
    if (request.substr(before.size()).starts_with("NONE")) return irqs;
    unsigned long irq = std::strtoul(end, &end, 10);
    do {
        irqs.insert(static_cast<unsigned>(irq));
    } while ((irq = std::strtoul(end, &end, 10)) != 0);
    return irqs;
}

BannedIrqs range(unsigned first, unsigned count) {
    BannedIrqs irqs;
    for (unsigned irq = first; irq < first + count; ++irq)
        irqs.insert(irq);
    return irqs;
}

TEST(IrqBalanceSetup, reads_interval_and_bans) {
    const auto setup = parse_irqbalance_setup("SLEEP 10 IRQ 43 LOAD 0 DIFF 0 CLASS 0 "
                                              "IRQ 44 LOAD 18446744073709551615 DIFF 7 CLASS -1 "
                                              "BANNED 00000000,000000c0");
    ASSERT_TRUE(setup) << setup.error().text;
    EXPECT_EQ(10U, setup->seconds);
    EXPECT_THAT(setup->banned, ElementsAre(43, 44));
}

TEST(IrqBalanceSetup, accepts_no_interrupts) {
    const auto setup = parse_irqbalance_setup("SLEEP 2 BANNED 00");
    ASSERT_TRUE(setup) << setup.error().text;
    EXPECT_THAT(setup->banned, IsEmpty());
}

TEST(IrqBalanceSetup, treats_empty_answer_as_refusal) {
    const auto setup = parse_irqbalance_setup("");
    ASSERT_FALSE(setup);
    EXPECT_EQ(EACCES, setup.error().number);
}

TEST(IrqBalanceSetup, rejects_other_text) {
    for (const auto* text :
         {" ", "SLEEP", "SLEEP x BANNED 00", "SLEEP 10", "SLEEP 10 ", "SLEEP 10 BANNED 0g",
          "SLEEP 10 BANNED 00 IRQ", "SLEEP 10 IRQ 43 BANNED 00", "SLEEP 10 IRQ 43 LOAD 0 DIFF 0 CLASS 0",
          "SLEEP 10 IRQ -3 LOAD 0 DIFF 0 CLASS 0 BANNED 00",
          "SLEEP 10 IRQ 99999999 LOAD 0 DIFF 0 CLASS 0 BANNED 0", "TYPE 3 NUMBER 0 LOAD 0 SAVE_MODE 0 "}) {
        const auto setup = parse_irqbalance_setup(text);
        ASSERT_FALSE(setup) << text;
        EXPECT_EQ(EBADMSG, setup.error().number) << text;
    }
}

TEST(IrqBalanceBans, adds_to_existing_bans) {
    EXPECT_THAT(bans_wanted({5, 9}, {1, {5, 9}, {}}, "team0", {24, 25}), ElementsAre(5, 9, 24, 25));
}

TEST(IrqBalanceBans, keeps_foreign_bans_when_removing_own) {
    const BansAsked asked{1, {5, 24}, {{"team0", {24, 25, 26}}, {"team1", {26, 30}}}};
    EXPECT_THAT(bans_wanted({5, 24, 25, 26, 30, 40}, asked, "team0", {}), ElementsAre(5, 24, 26, 30, 40));
    EXPECT_THAT(bans_wanted({5, 24, 25, 26, 30, 40}, asked, "team1", {}), ElementsAre(5, 24, 25, 26, 40));
}

TEST(IrqBalanceBans, follows_changed_irq_numbers) {
    const BansAsked asked{1, {}, {{"team0", {24, 25}}}};
    EXPECT_THAT(bans_wanted({24, 25}, asked, "team0", {25, 31}), ElementsAre(25, 31));
}

TEST(IrqBalanceRequest, lists_all_bans) {
    EXPECT_EQ("settings ban irqs 5 24 25", *ban_request({5, 24, 25}, {24, 25}));
    EXPECT_EQ("settings ban irqs 90 24 25", *ban_request({90, 24, 25}, {24, 25})) << "foreign ones first";
    EXPECT_EQ("settings ban irqs 0 9 5", *ban_request({0, 5, 9}, {0, 5})) << "a zero ends the rest";
    EXPECT_EQ("settings ban irqs NONE", *ban_request({}, {}));
}

TEST(IrqBalanceRequest, is_cut_between_numbers_by_old_irqbalance) {
    for (unsigned first : {10, 90, 980, 9970}) {
        auto bans = range(first, 400);
        const auto ours = bans;
        bans.insert(7);
        const auto request = ban_request(bans, ours);
        ASSERT_TRUE(request);
        EXPECT_EQ(bans, as_irqbalance_reads(*request, 16383));
        const auto read = as_irqbalance_reads(*request, 500);
        EXPECT_TRUE(std::ranges::includes(bans, read)) << "a part of a number is another interrupt's";
        EXPECT_GT(read.size(), 75U);
        EXPECT_TRUE(read.contains(7)) << "not ours, so not to be lost";
    }
}

TEST(IrqBalanceRequest, never_loses_foreign_bans) {
    const auto request = ban_request(range(1000, 200), range(1000, 20));
    ASSERT_FALSE(request);
    EXPECT_EQ(EMSGSIZE, request.error().number);
}

TEST(IrqBalanceRequest, has_maximum_length) {
    const auto bans = range(100'000, 5000);
    const auto request = ban_request(bans, bans);
    ASSERT_TRUE(request);
    EXPECT_LT(request->size(), 16384U);
    EXPECT_GT(request->size(), 16370U);
}

TEST(IrqBalanceBans, reads_back_written_text) {
    const BansAsked asked{4711, {1, 2}, {{"team0", {24, 25}}, {"a \"team\"", {}}}};
    const auto read = parse_bans_asked(text_of(asked));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(asked, *read);
    EXPECT_FALSE(parse_bans_asked("{}"));
    EXPECT_FALSE(parse_bans_asked("24 25"));
    EXPECT_THAT(parse_bans_asked(R"({"pid": 1, "found": [-1, 3, "x"], "teams": {"t": 5}})")->found,
                SizeIs(1));
}

} // namespace
} // namespace teamo
