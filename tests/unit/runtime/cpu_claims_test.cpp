// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cpu_claims.h"
#include "unit/kernel/tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
    EXPECT_THAT(claims().others("team0"),
                ElementsAre(CpuClaim{.owner = "team1 eth4", .cpu = 2, .load = 1.5, .standby = false},
                            CpuClaim{.owner = "team1 eth4", .cpu = 3, .load = 1.5, .standby = false},
                            CpuClaim{.owner = "team1 eth5", .cpu = 6, .load = 1, .standby = true}));
    EXPECT_THAT(claims().others("team1"), IsEmpty()) << "its own";
    claims().remove("team1");
    EXPECT_THAT(claims().others("team0"), IsEmpty());
}

TEST_F(CpuClaimFiles, replaces_whole_file) {
    ASSERT_TRUE(claims().write("team1", {eth4()}));
    ASSERT_TRUE(claims().write("team1", {}));
    EXPECT_THAT(claims().others("team0"), IsEmpty());
    struct stat status {};
    ASSERT_EQ(0, ::stat((directory() + "/team1.cpus").c_str(), &status));
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(CpuClaimFiles, counts_dead_daemon_while_interrupts_stay) {
    claims_of("team1", 4711, {eth4()});
    EXPECT_THAT(claims().others("team0"), IsEmpty());
    file("proc/irq/40/smp_affinity_list", "0-7");
    file("proc/irq/41/smp_affinity_list", "3");
    EXPECT_EQ(claims().others("team0").size(), 2);
    file("proc/irq/41/smp_affinity_list", "0-7");
    EXPECT_THAT(claims().others("team0"), IsEmpty());
}

TEST_F(CpuClaimFiles, detects_reused_process_id) {
    claims_of("team1", 4711, {eth4()});
    process(4711, 10);
    EXPECT_THAT(claims().others("team0"), IsEmpty());
    process(4711, 9);
    EXPECT_EQ(claims().others("team0").size(), 2);
}

TEST_F(CpuClaimFiles, ignores_invalid_files) {
    ASSERT_TRUE(claims().write("team1", {eth4()}));
    file("run/team2.cpus", "\x7f"
                           "ELF");
    file("run/team3.cpus", "");
    file("run/team4.cpus", R"({"version": 2, "pid": 1, "ports": []})");
    file("run/team5.json", text_of(TeamClaims{.pid = ::getpid(), .start_time = 700, .ports = {eth4()}}));
    folder("run/team6.cpus");
    EXPECT_EQ(claims().others("team0").size(), 2);
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

} // namespace
} // namespace teamo
