// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/shared_files.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

PortClaim eth4() {
    return {.port = "eth4", .cpus = {2, 3}, .irqs = {{40, {2}}, {41, {3}}}, .load = 3, .standby = false};
}

class CpuClaimFiles : public test::Tree {
protected:
    CpuClaimFiles() { process(::getpid(), 700); }

    CpuClaims claims() {
        folder("run");
        return CpuClaims(directory(), root());
    }
    std::string directory() const { return root() + "/run"; }

    void process(pid_t pid, unsigned start) {
        file(fmt::format("proc/{}/stat", pid),
             fmt::format("{} (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 {} 20", pid, start));
    }
    void claims_of(const std::string& team, pid_t pid, std::vector<PortClaim> ports) {
        folder("run");
        std::ofstream(directory() + "/" + team + ".cpus")
            << text_of(TeamClaims{.pid = pid, .start_time = 9, .ports = std::move(ports)});
    }
};

TEST_F(CpuClaimFiles, reads_claims_of_other_teams) {
    ASSERT_TRUE(claims().write(
        "team1", {eth4(), {.port = "eth5", .cpus = {6}, .irqs = {}, .load = 1, .standby = true}}));
    EXPECT_THAT(claims().others({"team0"}),
                ElementsAre(CpuClaim{.owner = "team1 eth4", .cpu = 2, .load = 1.5, .standby = false},
                            CpuClaim{.owner = "team1 eth4", .cpu = 3, .load = 1.5, .standby = false},
                            CpuClaim{.owner = "team1 eth5", .cpu = 6, .load = 1, .standby = true}));
    EXPECT_THAT(claims().others({"team1"}), IsEmpty()) << "its own";
    claims().remove("team1");
    EXPECT_THAT(claims().others({"team0"}), IsEmpty());
}

TEST_F(CpuClaimFiles, replaces_whole_file) {
    ASSERT_TRUE(claims().write("team1", {eth4()}));
    ASSERT_TRUE(claims().write("team1", {}));
    EXPECT_THAT(claims().others({"team0"}), IsEmpty());
    struct stat status{};
    ASSERT_EQ(0, ::stat((directory() + "/team1.cpus").c_str(), &status));
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(CpuClaimFiles, counts_dead_daemon_while_interrupts_stay) {
    claims_of("team1", 4711, {eth4()});
    EXPECT_THAT(claims().others({"team0"}), IsEmpty());
    file("proc/irq/40/smp_affinity_list", "0-7");
    file("proc/irq/41/smp_affinity_list", "3");
    EXPECT_EQ(claims().others({"team0"}).size(), 2);
    file("proc/irq/41/smp_affinity_list", "0-7");
    EXPECT_THAT(claims().others({"team0"}), IsEmpty());
}

TEST_F(CpuClaimFiles, detects_reused_process_id) {
    claims_of("team1", 4711, {eth4()});
    process(4711, 10);
    EXPECT_THAT(claims().others({"team0"}), IsEmpty());
    process(4711, 9);
    EXPECT_EQ(claims().others({"team0"}).size(), 2);
}

TEST_F(CpuClaimFiles, ignores_invalid_files) {
    ASSERT_TRUE(claims().write("team1", {eth4()}));
    file("run/team2.cpus", "\x7f"
                           "ELF");
    file("run/team3.cpus", "");
    file("run/team4.cpus", R"({"version": 2, "pid": 1, "ports": []})");
    file("run/team5.json", text_of(TeamClaims{.pid = ::getpid(), .start_time = 700, .ports = {eth4()}}));
    folder("run/team6.cpus");
    EXPECT_EQ(claims().others({"team0"}).size(), 2);
}

TEST_F(CpuClaimFiles, locks_exclusively) {
    auto first = claims().try_lock();
    ASSERT_TRUE(first && *first);
    const auto second = claims().try_lock();
    ASSERT_TRUE(second);
    EXPECT_FALSE(*second);
    first->reset();
    EXPECT_TRUE(claims().try_lock().value());
}

TEST_F(CpuClaimFiles, reads_what_it_knows_of_a_later_version) {
    const auto claims = parse_claims(R"({"version": 2, "pid": 12, "start_time": 34, "shares": 7, "ports": [
        {"port": "eth4", "cpus": "2-3", "irqs": {"40": "2", "41": "3"}, "load": 3, "standby": "when idle"},
        {"port": "eth5", "cpus": {"numa": 1}}, {"port": "eth6", "cpus": "4", "load": -1}]})");
    ASSERT_TRUE(claims) << claims.error().text;
    const PortClaim eth6{.port = "eth6", .cpus = {4}, .irqs = {}, .load = 0, .standby = false};
    EXPECT_EQ(*claims, (TeamClaims{.pid = 12, .start_time = 34, .ports = {eth4(), eth6}}));
    EXPECT_EQ(parse_claims(text_of(*claims)).value(), *claims);
    EXPECT_FALSE(parse_claims(R"({"version": 2, "process": 12, "ports": []})"));
}

TEST_F(CpuClaimFiles, reads_back_written_text) {
    const TeamClaims claims{.pid = 12, .start_time = 34, .ports = {eth4()}};
    EXPECT_EQ(parse_claims(text_of(claims)).value(), claims);
    EXPECT_FALSE(parse_claims(R"({"version": 1, "pid": 1, "ports": [{"port": "eth0", "cpus": ""}]})"));
    EXPECT_FALSE(parse_claims(
        R"({"version": 1, "pid": 1, "ports": [{"port": "eth0", "cpus": "1", "load": 1, "irqs": {"x": "1"}}]})"));
    EXPECT_FALSE(
        parse_claims(R"({"version": 1, "pid": 1, "ports": [{"port": "eth0", "cpus": "1", "load": -1}]})"));
    EXPECT_FALSE(parse_claims(R"({"version": 1, "pid": 0, "ports": []})"));
    EXPECT_FALSE(parse_claims("[]"));
}

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
    EXPECT_THAT(setup->banned_cpus, ElementsAre(6, 7));
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

TEST(IrqBalanceBans, are_read_of_a_later_version) {
    const auto read = parse_bans_asked(
        R"({"version": 2, "pid": 7, "found": [1, 2], "teams": {"team0": [24]}, "until": "reboot"})");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, (BansAsked{7, {1, 2}, {{"team0", {24}}}}));
}

TEST(IrqBalanceBans, reads_back_written_text) {
    const BansAsked asked{4711, {1, 2}, {{"team0", {24, 25}}, {"a \"team\"", {}}}};
    const auto read = parse_bans_asked(text_of(asked));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(asked, *read);
    EXPECT_FALSE(parse_bans_asked("{}"));
    EXPECT_FALSE(parse_bans_asked("24 25"));
    EXPECT_FALSE(parse_bans_asked(R"({"pid": 1})")) << "no version";
    for (const auto* wrong :
         {R"({"version": 1, "pid": 1, "found": [-1, 3]})", R"({"version": 1, "pid": 1, "found": [3, "x"]})",
          R"({"version": 1, "pid": 1, "teams": {"t": 5}})"})
        EXPECT_FALSE(parse_bans_asked(wrong)) << wrong;
    EXPECT_THAT(parse_bans_asked(R"({"version": 1, "pid": 1, "found": [3, 4000000000]})").value().found,
                ElementsAre(3))
        << "no machine has such an interrupt";
}

} // namespace
} // namespace teamo
