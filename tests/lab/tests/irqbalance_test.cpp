// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The real irqbalance and real cards: it moves their interrupts, unless it is asked to leave them alone.
//
// lab: IrqBalanceBan.* IrqBalanceTeam.* in -k 6.1 -p 2, 50 s
#include "daemon/cpus/irqbalance_ban.h"
#include "kernel/files/files.h"
#include "lab/cards_in_use.h"
#include "lab/far_switch.h"
#include "lab/guest.h"
#include "lab/irq_files.h"
#include "lab/lab.h"
#include "support/daemon/ask_irqbalance.h"
#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/net_ns.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

using Pins = std::map<unsigned, std::string>; ///< by interrupt, as smp_affinity_list has it

class IrqBalanceBan : public testing::Test {
protected:
    IrqBalanceBan() {
        in_guest("ip link set eth0 up; ip link set eth1 up");
        for (const auto& [card, cpu] : {std::pair("eth0", "1"), std::pair("eth1", "0")})
            for (const auto& entry :
                 fs::directory_iterator(fmt::format("/sys/class/net/{}/device/msi_irqs", card)))
                if (fs::exists("/proc/irq" / entry.path().filename()))
                    plan_[static_cast<unsigned>(std::stoul(entry.path().filename()))] = cpu;
        auto loop = make_loop();
        if (!loop) throw SetupError(loop.error().text);
        loop_ = std::move(*loop);
    }

    static std::string place(unsigned irq) { return fmt::format("/proc/irq/{}/smp_affinity_list", irq); }
    void pin() const {
        for (const auto& [irq, cpu] : plan_)
            if (const auto written = write_into(place(irq), cpu); !written)
                throw SetupError(written.error().text);
    }
    Pins pins() const {
        Pins pins;
        for (const auto& [irq, cpu] : plan_) {
            const auto text = read_file(place(irq));
            if (!text) throw SetupError(text.error().text);
            pins[irq] = text->substr(0, text->find('\n'));
        }
        return pins;
    }
    BannedIrqs ours() const {
        BannedIrqs irqs;
        for (const auto& [irq, cpu] : plan_)
            irqs.insert(irq);
        return irqs;
    }
    /// An interrupt that is not of the cards.
    unsigned administrators() const {
        for (const auto& entry : fs::directory_iterator("/proc/irq"))
            if (entry.is_directory()) {
                const auto irq = static_cast<unsigned>(std::stoul(entry.path().filename()));
                if (irq > 16 && !plan_.contains(irq)) return irq;
            }
        throw SetupError("no interrupt but the cards'");
    }

    /// Its systemd service creates the directory before each start, and removes it at the end.
    Process start_irqbalance() const {
        fs::remove_all(irqbalance_directory);
        fs::create_directories(irqbalance_directory);
        return Process::start({.argv = {std::getenv("TEAMO_LAB_IRQBALANCE"), "-f", "-t", "2",
                                        fmt::format("--banirq={}", administrators())}});
    }
    static void end(Process& process) {
        process.signal(SIGTERM);
        if (!process.wait(patient(10s))) throw SetupError("irqbalance does not end");
    }
    static BannedIrqs banned() {
        const auto sockets = find_irqbalance();
        if (sockets.empty()) return {};
        const auto reply = ask_irqbalance(sockets[0].path, "setup", patient(10s));
        if (!reply) throw SetupError(reply.error().text);
        const auto setup = parse_irqbalance_setup(*reply);
        if (!setup) throw SetupError(setup.error().text);
        return setup->banned;
    }

    void turn() {
        while (sd_event_run(loop_.get(), 0) > 0) {
        }
    }
    testing::AssertionResult honoured(const IrqBalance& ban, pid_t pid) {
        return eventually("it leaves our interrupts alone", [&] {
            turn();
            return ban.status().pid == pid && ban.status().honoured == ours();
        });
    }
    /// Polls all the time for this long: the interrupts stay on their CPUs.
    testing::AssertionResult all_stay(milliseconds how_long) {
        return stays("every interrupt is in its place", [&] { return turn(), pins() == plan_; }, how_long);
    }

    Pins plan_;
    EventLoop loop_;
    Log log_{"test", LogOutput::standard_error};
};

// irqbalance places interrupts one interval (2 s here) after its start or SIGHUP; Debian 12's version 1.9.2
// again one interval later if its list was changed meanwhile.
constexpr auto until_it_has_placed = 7s;

TEST_F(IrqBalanceBan, holds_until_withdrawn) {
    ASSERT_GE(plan_.size(), 4U);
    pin();
    {
        auto alone = start_irqbalance();
        ASSERT_TRUE(
            eventually("it moves interrupts that are not banned", [&] { return pins() != plan_; }, 20s));
        end(alone);
    }
    pin();
    auto made = IrqBalance::make(loop_.get(), log_, "team0", {});
    ASSERT_TRUE(made) << made.error().text;
    auto& ban = **made;
    ban.keep_out(ours());
    turn();
    EXPECT_FALSE(ban.status().present);
    for (const auto* start : {"first", "second"}) {
        SCOPED_TRACE(start);
        auto irqbalance = start_irqbalance();
        ASSERT_TRUE(honoured(ban, irqbalance.pid()));
        EXPECT_THAT(banned(), Contains(administrators()));
        EXPECT_TRUE(all_stay(until_it_has_placed));
        if (start == std::string("second")) {
            irqbalance.signal(SIGHUP);
            EXPECT_TRUE(all_stay(until_it_has_placed)) << "after SIGHUP";
            EXPECT_THAT(banned(), IsSupersetOf(ours()));
            bool released = false;
            ban.release([&] { released = true; });
            ASSERT_TRUE(eventually("released", [&] { return turn(), released; }, 20s));
            EXPECT_EQ(BannedIrqs{administrators()}, banned());
            EXPECT_TRUE(eventually("it moves them again", [&] { return pins() != plan_; }, 20s));
        }
        end(irqbalance);
    }
}

/// The whole daemon with traffic, while irqbalance starts, gets SIGHUP and restarts.
class IrqBalanceTeam : public IrqBalanceBan {
protected:
    IrqBalanceTeam() { far_.emplace(Lab::ports()); }

    /// The first vector of the ports that is not on its planned CPU, or "".
    static std::string misplaced(const TeamUnderTest& team) {
        for (const auto& [card, cpus] : planned_cpus(team))
            for (const auto& vector : vectors_of(card))
                if (const auto where = affinity(vector.irq); cpus.empty() || where != cpus)
                    return fmt::format("{} is on CPU {}, not {}", vector.name, teamo::text_of(where),
                                       teamo::text_of(cpus));
        return "";
    }

    std::optional<FarSwitch> far_;
};

TEST_F(IrqBalanceTeam, keeps_its_interrupts) {
    const auto a_third = Lab::at_length() ? 40s : until_it_has_placed;
    const TeamUnderTest team(config_of(cards(Lab::ports())));
    far_->flood(team);
    ASSERT_TRUE(eventually(
        "all are placed", [&] { return misplaced(team).empty(); }, 20s))
        << misplaced(team);
    const auto plan = planned_cpus(team);
    std::map<unsigned, CpuList> wanted;
    for (const auto& [card, cpus] : plan)
        for (const auto& vector : vectors_of(card))
            wanted[vector.irq] = cpus;
    unsigned polls = 0;
    const auto all_stay = [&] {
        return stays(
            "every interrupt is in its place",
            [&] {
                ++polls;
                return std::ranges::all_of(wanted,
                                           [](const auto& one) { return affinity(one.first) == one.second; });
            },
            a_third);
    };
    auto first = start_irqbalance();
    EXPECT_TRUE(all_stay()) << "after its start " << misplaced(team) << team.log();
    first.signal(SIGHUP);
    EXPECT_TRUE(all_stay()) << "after SIGHUP " << misplaced(team) << team.log();
    end(first);
    auto second = start_irqbalance();
    EXPECT_TRUE(all_stay()) << "after its restart " << misplaced(team) << team.log();
    fmt::print("{} polls in {} s\n{}", polls, 3 * a_third.count(), team.teamoctl({"interrupts"}).out);
    EXPECT_THAT(team.teamoctl({"interrupts"}).out, testing::HasSubstr("leaves the ports' interrupts alone"));
    EXPECT_EQ(plan, planned_cpus(team));
    end(second);
}

} // namespace
} // namespace teamo::test
