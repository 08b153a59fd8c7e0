// SPDX-License-Identifier: LGPL-2.1-or-later
//
// More changes of devices than the daemon can follow: more link events than its socket holds, while it is
// stopped, so that the kernel drops the others (ENOBUFS); and devices that come and go all the time, so that
// the kernel interrupts each dump of them (NLM_F_DUMP_INTR).
//
// lab: Overrun.*:ChangingDevices.* by none: events and lists are the same with every datapath
#include "kernel/netlink/links.h"
#include "netns/configs.h"
#include "support/daemon/watched_calls.h"
#include "support/net/overrun.h"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace teamo::test {
namespace {

TEST(Overrun, is_no_loss) {
    const Cabling wires(3, FarSide::open);
    wires.host().ip("link del eth3");
    TeamUnderTest team(loadbalance(3));
    ASSERT_TRUE(team.await_link("eth1") && team.await_link("eth2"));
    team.signal(SIGSTOP);
    overrun(wires.host());
    // None of these is an event that the daemon gets.
    wires.host().ip("link del eth1");
    wires.pull(2);
    wires.add_cable(3);
    team.signal(SIGCONT);
    EXPECT_TRUE(team.await_item("ports.eth1.ifinfo.ifindex", ""));
    EXPECT_TRUE(team.await_link("eth2", false));
    EXPECT_TRUE(team.await_link("eth3"));
    EXPECT_EQ(fmt::format("{}", look(wires.host(), "eth3").index), team.item("ports.eth3.ifinfo.ifindex"));
    EXPECT_NE(std::string::npos, team.log().find("link events were lost; reading all devices again"));
}

/// Makes devices without a pause, and removes those that it has made when they are many.
class Changes {
public:
    explicit Changes(const NetNs& in) : in_(in) {}
    ~Changes() {
        ended_ = true;
        thread_.join();
    }
    Changes(const Changes&) = delete;
    Changes& operator=(const Changes&) = delete;

private:
    void run() const {
        constexpr int at_once = 200, many = 2'000;
        for (int made = 0; !ended_; made += at_once) {
            std::string lines;
            for (int pair = made; pair < made + at_once; ++pair)
                lines += fmt::format("link add come{0} group 7 type veth peer name go{0} group 7\n", pair);
            in_.ip(lines);
            if (made % many == 0 && made != 0) in_.ip("link del group 7");
        }
    }

    const NetNs& in_;
    std::atomic<bool> ended_ = false;
    std::thread thread_{[this] { run(); }};
};

class ChangingDevices : public testing::Test {
protected:
    ChangingDevices() {
        std::string lines;
        for (int pair = 0; pair < 400; ++pair)
            lines += fmt::format("link add stay{0} type veth peer name there{0}\n", pair);
        wires.host().ip(lines);
    }

    const Cabling wires{2, FarSide::open};
};

/// Mostly the list changes each time that it is read.
TEST_F(ChangingDevices, are_listed) {
    auto control = wires.host().inside([] { return LinkControl::open(); });
    ASSERT_TRUE(control) << control.error().text;
    const auto before = control->read_all();
    ASSERT_TRUE(before) << before.error().text;
    const Changes changes(wires.host());
    bool is_whole = true;
    for (const auto until = SteadyClock::now() + 5s;
         is_whole && !HasFailure() && SteadyClock::now() < until;) {
        const auto list = control->list(*before);
        ASSERT_TRUE(list) << list.error().text;
        for (const auto& [index, link] : *before)
            EXPECT_TRUE(list->links.contains(index)) << link.name;
        is_whole = list->is_whole;
    }
}

TEST_F(ChangingDevices, end_no_start) {
    TeamUnderTest team(loadbalance(2), TeamUnderTest::later);
    WatchedCalls calls;
    bool is_there = false;
    calls.during_lists([this, &is_there] {
        wires.host().ip(is_there ? "link del come\n" : "link add come type veth peer name go\n");
        is_there = !is_there;
    });
    ASSERT_TRUE(team.try_to_start(calls));
    EXPECT_TRUE(team.await_link("eth1"));
    EXPECT_TRUE(team.await_link("eth2"));
    EXPECT_THAT(team.log(), testing::HasSubstr("devices came and went while they were read"));
    calls.during_lists({});
}

} // namespace
} // namespace teamo::test
