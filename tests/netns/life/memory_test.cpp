// SPDX-License-Identifier: LGPL-2.1-or-later
//
// No memory: the kernel refuses calls of the daemon, or refuses memory to it.
//
// lab: NoMemory.of_the_daemon_* by team, 15 s, long
// libteam waits for ever for an answer that stays unread in its socket; the kernel does not do that.
// lab: NoMemory.of_the_kernel_is_waited_for by none: by team libteam would hang
// lab: NoMemory.of_the_kernel_* by bpf on 6.12, 15 s, long
// lab: NoMemory.of_the_kernel_* by bond on 6.12, 15 s, long
#include "kernel/bpf/device_hooks.h"
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "support/daemon/address_space.h"
#include "support/daemon/watched_calls.h"
#include "support/net/programs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <sys/resource.h>

namespace teamo::test {
namespace {

void limit_memory(pid_t process, rlim_t bytes) {
    const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    if (::prlimit(process, RLIMIT_AS, &limit, nullptr) < 0) throw SetupError("cannot limit memory");
}

/// eth1 and eth2 carry; eth3 is configured and not there yet.
struct NoMemory : testing::Test {
    Cabling wires{2, FarSide::lag_switch};
    const std::vector<std::string> names{"eth1", "eth2"};
    const std::vector<std::string> before{snapshot(wires.host(), "eth1"), snapshot(wires.host(), "eth2")};
    TeamUnderTest team{loadbalance(3), TeamUnderTest::later};

    bool passes() const { return reaches(wires.host(), client_v4); }
    /// All is as the configuration says; after the stop all is as it was.
    void expect_a_whole_team_and_all_put_back() {
        for (const auto* port : {"eth1", "eth2", "eth3"}) {
            EXPECT_TRUE(team.await_link(port, true, 20s)) << port;
            EXPECT_TRUE(team.await_item(fmt::format("ports.{}.datapath.transmits", port), "true")) << port;
        }
        EXPECT_TRUE(becomes("on", [&] { return tso_of(wires.host(), "eth2"); }));
        EXPECT_TRUE(passes());
        EXPECT_EQ(0, team.stop());
        for (std::size_t at = 0; at < names.size(); ++at)
            EXPECT_EQ("", difference(before[at], snapshot(wires.host(), names[at]))) << names[at];
        EXPECT_FALSE(exists(wires.host(), "team0"));
        EXPECT_EQ("", must(wires.host(), "find /run/teamd /run/teamd-offload ! -type d"));
    }
};

/// The kernel refuses a third of all calls, and then each: while a port flaps, another returns from
/// elsewhere, an offload is switched off and a third port joins.
TEST_F(NoMemory, of_the_kernel_is_waited_for) {
    WatchedCalls calls;
    ASSERT_TRUE(team.try_to_start(calls));
    bring_up(wires, team);
    const auto elsewhere = NetNs::create();
    for (const unsigned nth : {3U, 2U, 1U}) {
        calls.refuse_every(nth, ENOMEM);
        wires.pull(1);
        wires.host().ip("link set eth2 netns " + elsewhere.path());
        elsewhere.ip("link set eth2 netns " + wires.host().path());
        if (nth == 2) wires.add_cable(3);
        static_cast<void>(sh(wires.host(), "ethtool -K eth2 tso off"));
        wires.plug(1);
        const auto then = calls.refused();
        EXPECT_TRUE(eventually(
            "calls are refused", [&] { return calls.refused() > then + 20 / nth; }, 3s))
            << nth;
        EXPECT_TRUE(team.running());
        calls.refuse_every(0, 0);
        EXPECT_TRUE(team.await_link("eth1"));
        EXPECT_TRUE(team.await_link("eth2"));
        EXPECT_TRUE(eventually("packets pass", [&] { return passes(); }));
    }
    EXPECT_LT(team.log().size(), 65536U) << "each refusal is logged once";
    expect_a_whole_team_and_all_put_back();
}

/// The programs use no slot without a device: an entry that is refused is not a device that is gone.
TEST_F(NoMemory, of_the_kernel_for_a_device_is_waited_for) {
    WatchedCalls calls;
    ASSERT_TRUE(team.try_to_start(calls));
    bring_up(wires, team);
    constexpr const char* entry = "bpf 2 teamo_there";
    const auto entries = [&] { return std::ranges::count(calls.steps(), entry); };
    calls.refuse_steps(entry, ENOMEM);
    const auto before_it = entries();
    wires.add_cable(3);
    EXPECT_TRUE(eventually("it is refused, and tried again", [&] { return entries() > before_it + 1; }));
    calls.refuse_steps("", 0);
    wires.pull(1);
    wires.pull(2);
    EXPECT_TRUE(team.await_item("ports.eth3.datapath.transmits", "true"));
    EXPECT_TRUE(eventually("packets pass by eth3", [&] { return passes(); }));
}

/// Without names a program of an earlier daemon looks like that of another one: it would stay in front, with
/// tables that nobody writes any more.
TEST_F(NoMemory, of_the_kernel_for_names_leaves_no_program_of_an_earlier_daemon) {
    team.start();
    bring_up(wires, team);
    constexpr const char* inner = "tmo0";
    if (!exists(wires.host(), inner)) GTEST_SKIP() << "only the BPF datapath has its program there";
    team.kill();
    WatchedCalls calls;
    calls.refuse_steps(fmt::format("bpf {}", static_cast<int>(BPF_LINK_CREATE)), ENOMEM);
    const bool ready = team.try_to_start(calls);
    calls.refuse_steps("", 0);
    if (!ready) team.start(); // as the unit does
    EXPECT_TRUE(team.await_link("eth1"));
    const auto programs = [&]() -> std::size_t {
        if (const auto of_netkit =
                read_device_programs(index_of(wires.host(), "team0"), DeviceHook::netkit_primary))
            return of_netkit->ids.size();
        return static_cast<std::size_t>(std::ranges::count(our_programs(wires.host(), inner), '\n'));
    };
    EXPECT_TRUE(becomes(std::size_t{1}, programs));
    EXPECT_TRUE(passes());
}

/// What it has and a little more, so that each time another allocation fails. The daemon ends; packets pass,
/// and the next daemon continues.
TEST_F(NoMemory, of_the_daemon_loses_nothing) {
    team.start();
    if (has_address_sanitizer(team.pid()))
        GTEST_SKIP()
            << "the address sanitizer ends a daemon that gets no memory, and needs a large address space";
    bring_up(wires, team);
    wires.add_cable(3);
    // A valid configuration that takes tens of megabytes when it is read.
    std::string zeros = "0";
    for (int count = 0; count < 400'000; ++count)
        zeros += ",0";
    const ConfigFile large(team_config(by_flow, ports_object(3), fmt::format(R"("note": [{}], )", zeros)));
    for (const rlim_t more : {0U, 2U, 8U}) {
        wires.pull(1);
        limit_memory(team.pid(), address_space_of(team.pid()) + more * 1'000'000);
        EXPECT_NE(0, ask(team, "config reload " + large.path()).status);
        EXPECT_EQ(75, team.stop(0)) << "to be started again, with " << more;
        EXPECT_TRUE(eventually("packets pass by other ports", [&] { return passes(); })) << more;
        wires.plug(1);
        if (!team.running()) team.start();
        EXPECT_TRUE(team.await_link("eth1"));
    }
    EXPECT_THAT(team.log(), testing::HasSubstr("out of memory; exiting"));
    expect_a_whole_team_and_all_put_back();
}

} // namespace
} // namespace teamo::test
