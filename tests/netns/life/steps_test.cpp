// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kills the daemon before each system call that changes something (a step), or refuses that call: during a
// start, a lost link, a repaired offload, a removed port and the stop. Each shard has every sixteenth step
// and runs every fifth of these; TEAMO_EVERY_STEP=1 runs all. TEAMO_STEP=17 runs only that step (with
// --gtest_filter='*recovers_from_a_kill/0').
//
// lab: */EveryStep.recovers_*/8 by team, 15 s
// lab: */EveryStep.* by team, 300 s, long
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "support/daemon/watched_calls.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace teamo::test {
namespace {

constexpr unsigned ports = 3, shards = 16;
constexpr const char* removed = "eth3"; ///< removed by hand during each run

std::vector<std::string> names() { return {"eth1", "eth2", "eth3"}; }

/// With only_active, activebackup sets the team's address on its active port.
std::string config_of(bool backup) {
    return team_config(backup ? R"({"name": "activebackup", "hwaddr_policy": "only_active"})" : by_flow,
                       ports_object(ports));
}

/// A team over ports that an administrator had configured, from its start to its stop.
class Life {
public:
    Life(const Cabling& wires, const std::vector<std::string>& before, bool backup)
        : wires_(wires), before_(before), backup_(backup), team_(config_of(backup), TeamUnderTest::later) {}

    /// From the start to the stop, or until the daemon ends.
    void live(WatchedCalls& calls) {
        bool runs = team_.try_to_start(calls);
        // As the systemd unit does.
        for (int times = 0; !runs && team_.ended() == 75 && times < 3; ++times)
            runs = (team_.start(), true);
        if (!runs) return;
        reach("all ports belong to the team", [&] { return ins() == names(); });
        wires_.pull(1);
        reach("eth1 does not carry", [&] { return !transmits("eth1"); });
        wires_.plug(1);
        reach("all ports belong to the team again", [&] { return ins() == names(); });
        static_cast<void>(sh(wires_.host(), "ethtool -K eth2 tso off"));
        reach("eth2 has its TSO again", [&] { return tso_of(wires_.host(), "eth2") == "on"; });
        if (!team_.running()) return;
        const bool done = team_.teamdctl({"port", "remove", removed}).status == 0;
        if (!team_.running()) return;
        if (done) reach("eth3 is restored", [&] { return is_as_before(2); });
        team_.signal(SIGTERM);
        static_cast<void>(eventually("the daemon ends", [&] { return !team_.running(); }));
    }

    /// Starts a new daemon, which must complete the team; stops it, and all settings must be restored.
    void expect_a_whole_team_and_all_put_back() {
        wires_.plug(1);
        team_.start();
        EXPECT_TRUE(eventually("all ports belong to the team, except perhaps the removed one", [&] {
            auto expected = names();
            if (ins() == expected) return true;
            expected.pop_back();
            return ins() == expected && is_as_before(2);
        })) << text_of_state();
        EXPECT_EQ("on", tso_of(wires_.host(), "eth2"));
        EXPECT_EQ(0, team_.stop());
        expect_all_put_back();
    }

    void expect_all_put_back() {
        for (unsigned number = 0; number < ports; ++number)
            EXPECT_TRUE(becomes("", [&] { return changes_of(number); })) << names()[number];
        EXPECT_FALSE(exists(wires_.host(), "team0"));
        EXPECT_EQ("", must(wires_.host(), "find /run/teamd /run/teamd-offload ! -type d"));
    }

    TeamUnderTest& team() { return team_; }

private:
    template <class Condition>
    void reach(std::string_view what, Condition holds) {
        if (!team_.running()) return;
        EXPECT_TRUE(eventually(what, [&] { return !team_.running() || holds(); })) << text_of_state();
    }

    bool transmits(const std::string& port) const {
        return team_.item(fmt::format("ports.{}.datapath.transmits", port)) == "true";
    }
    /// The ports that are completely set up.
    std::vector<std::string> ins() const {
        if (!exists(wires_.host(), "team0")) return {};
        const auto team = look(wires_.host(), "team0");
        std::vector<std::string> list;
        for (const auto& port : names()) {
            const auto device = look(wires_.host(), port);
            const bool marked = std::ranges::any_of(device.altnames, [](const std::string& name) {
                return name.starts_with("teamo-port-team0-");
            });
            const bool by_driver = team.kind == "team" || team.kind == "bond";
            const bool fits = by_driver ? device.master == "team0"
                                        : device.mtu == team.mtu && device.flags.contains("ALLMULTI");
            const bool quiet = must(wires_.host(), fmt::format("cat /proc/sys/net/ipv6/conf/{}/disable_ipv6",
                                                               port)) == "1\n";
            const bool carries = team_.link_is_up(port) && (backup_ || transmits(port));
            if (device.up() && marked && fits && quiet && carries) list.push_back(port);
        }
        return list;
    }
    std::string changes_of(unsigned number) const {
        return difference(before_[number], snapshot(wires_.host(), names()[number]));
    }
    bool is_as_before(unsigned number) const { return changes_of(number).empty(); }
    std::string text_of_state() const {
        return must(wires_.host(), "ip -d link; cat /run/teamd-offload/team0.json 2>&1; true");
    }

    const Cabling& wires_;
    const std::vector<std::string>& before_;
    bool backup_;
    TeamUnderTest team_;
};

/// Runs the steps of a shard.
class EveryStep : public testing::TestWithParam<unsigned> {
protected:
    EveryStep() : wires_(ports, FarSide::open) {
        wires_.host().ip("link set eth1 mtu 1400 address 02:00:00:00:01:01\n"
                         "link set eth2 mtu 1300 allmulticast on up");
        must(wires_.host(), "echo 1 > /proc/sys/net/ipv6/conf/eth1/disable_ipv6");
        if (!becomes("UP", [this] { return look(wires_.host(), "eth2").operstate; }))
            throw SetupError("eth2 does not come up");
        for (const auto& port : names())
            before_.push_back(snapshot(wires_.host(), port));
    }

    /// `try_it` returns whether the step existed.
    void each(const std::function<bool(Life& life, unsigned step)>& try_it) {
        if (const char* only = std::getenv("TEAMO_STEP")) {
            const auto step = static_cast<unsigned>(std::atoi(only));
            Life life(wires_, before_, (step - 1) % 2 == 1);
            EXPECT_TRUE(try_it(life, step)) << "there are fewer steps";
            return;
        }
        // Odd samples, so that every error number occurs. With the driver each bucket is a step, and a guest
        // is slow.
        const unsigned sample = emulated() ? 29 : 5;
        const unsigned stride = std::getenv("TEAMO_EVERY_STEP") != nullptr ? shards : sample * shards;
        unsigned tried = 0;
        for (unsigned step = 1 + GetParam(); !HasFailure(); step += stride) {
            Life life(wires_, before_, GetParam() % 2 == 1);
            if (!try_it(life, step)) break;
            ++tried;
        }
        EXPECT_GT(tried, 0U) << "nothing was tried";
        RecordProperty("steps", static_cast<int>(tried));
        fmt::print("{} steps\n", tried);
    }

private:
    const Cabling wires_;
    std::vector<std::string> before_;
};

INSTANTIATE_TEST_SUITE_P(Shard, EveryStep, testing::Range(0U, shards));

TEST_P(EveryStep, recovers_from_a_kill) {
    each([](Life& life, unsigned step) {
        WatchedCalls calls;
        calls.kill_before(step);
        life.live(calls);
        const bool killed = calls.count() >= step;
        SCOPED_TRACE(fmt::format("killed before step {} of {}: {}", step, calls.count(), calls.what()));
        if (killed)
            life.expect_a_whole_team_and_all_put_back();
        else
            life.expect_all_put_back();
        return killed;
    });
}

/// Steps of a removal: the next daemon must finish it, or make the device a port again.
TEST(Leftovers, finishes_a_half_removed_port) {
    unsigned first = 0, last = 0;
    const unsigned sample = emulated() ? 14 : 2; // with the driver each bucket is a step
    for (unsigned step = 0; step <= last; step = step == 0 ? first : step + sample) {
        const Cabling wires(2, FarSide::open);
        const auto before = snapshot(wires.host(), "eth2");
        TeamUnderTest team(loadbalance(2), TeamUnderTest::later);
        WatchedCalls calls;
        if (step > 0) calls.kill_before(step);
        const bool ready = team.try_to_start(calls) && team.await_link("eth1") && team.await_link("eth2");
        if (step == 0) {
            first = calls.count() + 1;
            for (const auto* kind :
                 {"netlink 0 ", "netlink 16 ", "bpf ", "write /proc/", " /run/teamd-offload/"})
                EXPECT_THAT(calls.steps(), testing::Contains(testing::HasSubstr(kind)))
                    << "a start has steps of each kind, or EveryStep does not try them";
        }
        if (ready) team.teamdctl({"port", "remove", "eth2"});
        if (step == 0) {
            // Its last steps come after the answer to the request.
            EXPECT_TRUE(eventually("eth2 is as it was before", [&] {
                return difference(before, snapshot(wires.host(), "eth2")).empty();
            }));
            EXPECT_TRUE(eventually("no more steps", [&] {
                last = calls.count();
                return bool{stays("no more", [&] { return calls.count() == last; }, 100ms)};
            }));
        }
        SCOPED_TRACE(fmt::format("killed before step {} of {} to {}: {}", step, first, last, calls.what()));
        // Its last steps come after the answer to the request.
        calls.spare();
        if (!calls.what().empty()) {
            ASSERT_TRUE(eventually("the daemon is killed", [&] { return !team.running(); }));
            team.start();
        }
        const auto is_whole = [&] {
            return team.link_is_up("eth2") && look(wires.host(), "eth2").up() &&
                   team.item("ports.eth2.datapath.transmits") == "true";
        };
        EXPECT_TRUE(eventually("eth2 is a port, or as it was before", [&] {
            return difference(before, snapshot(wires.host(), "eth2")).empty() || is_whole();
        }));
        EXPECT_EQ(0, team.stop());
        EXPECT_EQ("", difference(before, snapshot(wires.host(), "eth2")));
        wires.host().ip("link del eth1\nlink del eth2");
        if (HasFailure()) return;
    }
    EXPECT_GT(last, first + 3) << "there are fewer steps than known";
}

/// An address change takes three calls: down, address, up. After a kill in between, the next daemon must make
/// the port the active one.
TEST(Leftovers, finishes_a_half_changed_address) {
    for (const unsigned after : {1U, 2U, 3U}) {
        const Cabling wires(2, FarSide::open);
        if (starts_by_bonding())
            GTEST_SKIP() << "bonding changes the address of a port that joins, so the daemon's first change "
                            "is earlier";
        TeamUnderTest team(
            team_config(R"({"name": "activebackup", "hwaddr_policy": "only_active"})", ports_object(2)),
            TeamUnderTest::later);
        WatchedCalls calls;
        calls.kill_in_address_change(after);
        ASSERT_TRUE(team.try_to_start(calls));
        ASSERT_TRUE(team.await_item("runner.active_port", "eth1") && team.await_link("eth2"));
        const auto address = look(wires.host(), "team0").address;
        wires.pull(1);
        ASSERT_TRUE(eventually("the daemon is killed", [&] { return !team.running(); }));
        EXPECT_EQ(after == 1, look(wires.host(), "eth2").up()) << after;
        team.start();
        EXPECT_TRUE(team.await_link("eth2"));
        EXPECT_TRUE(becomes(address, [&] { return look(wires.host(), "eth2").address; }));
        EXPECT_TRUE(team.await_item("runner.active_port", "eth2"));
        EXPECT_EQ(0, team.stop());
        wires.host().ip("link del eth1\nlink del eth2");
    }
}

TEST_P(EveryStep, repeats_a_refused_call) {
    each([](Life& life, unsigned step) {
        WatchedCalls calls;
        constexpr std::array errors{EBUSY, EAGAIN, ENOMEM, EINTR};
        const int error = errors[step / shards % errors.size()];
        calls.refuse(step, error);
        life.live(calls);
        EXPECT_EQ(0, life.team().ended());
        life.expect_all_put_back();
        if (HasFailure())
            fmt::print("step {} of {}, refused with errno {}: {}\n", step, calls.count(), error,
                       calls.what());
        return calls.count() >= step;
    });
}

} // namespace
} // namespace teamo::test
