// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A walk over faults that cost packets or a port: doctor names each within 5 seconds, with the command that
// ends it, and nothing once that command has been given.
//
// lab: DoctorWalk.* by team, 60 s, long
#include "netns/configs.h"
#include "netns/life/operators.h"
#include "netns/traffic/foreign_programs.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <linux/if_link.h>

namespace teamo::test {
namespace {

using testing::HasSubstr;

class DoctorWalk : public testing::Test {
protected:
    DoctorWalk() {
        bring_up(wires_, team_);
        EXPECT_TRUE(is_well());
    }

    std::string doctor() const { return ask(team_, "doctor").out; }
    /// With the team driver a note about the datapath stays.
    bool is_well() const {
        return static_cast<bool>(eventually("nothing is wrong", [this] {
            const auto said = ask(team_, "doctor");
            return by_driver(wires_) ? said.status == 0 : said.out == "team0: nothing is wrong\n";
        }));
    }
    /// The fault, what doctor says of it, and how it ends.
    void meet(std::string_view what, const std::function<void()>& begin,
              std::initializer_list<const char*> words, const std::function<void()>& end) {
        SCOPED_TRACE(what);
        begin();
        std::string said;
        const auto all_are_said = [&] {
            said = doctor();
            return std::ranges::all_of(words,
                                       [&](const char* one) { return said.find(one) != std::string::npos; });
        };
        EXPECT_TRUE(eventually("doctor names it", all_are_said, 5s)) << said;
        end();
        EXPECT_TRUE(is_well()) << doctor();
    }
    /// The same by commands in the host's namespace.
    void meet(std::string_view what, const std::string& begin, std::initializer_list<const char*> words,
              const std::string& end) {
        meet(what, [&] { must(wires_.host(), begin); }, words, [&] { must(wires_.host(), end); });
    }
    bool is_pair() const { return !by_driver(wires_) && !by_bonding(wires_); }

    Cabling wires_{2, FarSide::learning_switch};
    TeamUnderTest team_{ranked_activebackup(2)};
};

TEST_F(DoctorWalk, of_links_and_devices) {
    meet(
        "a pulled cable", [this] { wires_.pull(2); }, {"eth2: has no link", "ethtool eth2"},
        [this] {
            wires_.plug(2);
            EXPECT_TRUE(team_.await_link("eth2"));
        });
    meet("a port that somebody has drained", fmt::format("{} team0 port drain eth2", teamoctl_program()),
         {"eth2: is drained, by hand", "teamoctl team0 port undrain eth2"},
         fmt::format("{} team0 port undrain eth2", teamoctl_program()));
    meet("the team is down", "ip link set team0 down",
         {"team0: is administratively down", "ip link set team0 up"}, "ip link set team0 up");
    meet("a port is down", "ip link set eth2 down", {"eth2: ", "ip link set eth2 up"}, "ip link set eth2 up");
    meet("another device has the team's address",
         fmt::format(
             "ip link add other address {} type veth peer name far; ip link set far up; ip link set other up",
             look(wires_.host(), "team0").address),
         {"other is up and has the MAC address", "ip link set other address ADDRESS"}, "ip link del other");
    meet("a port was put into a bridge",
         "ip link add br0 type bridge; ip link set eth2 nomaster; ip link set eth2 master br0",
         {"eth2: is configured, but is not a port", "teamoctl team0 port add eth2"},
         fmt::format("ip link set eth2 nomaster; ip link del br0; {} team0 port add eth2",
                     teamoctl_program()));
    if (is_pair())
        meet("a macvlan on a port", "ip link add mv0 link eth2 type macvlan",
             {"eth2: carries mv0 (macvlan)", "move it to team0"}, "ip link del mv0");
}

TEST_F(DoctorWalk, of_programs_of_others) {
    if (!is_pair()) GTEST_SKIP() << "with the kernel's drivers no frame is hidden by these";
    meet("a filter that ends classification",
         "tc qdisc add dev eth1 clsact 2>/dev/null; "
         "tc filter add dev eth1 ingress prio 1 protocol ip u32 match u32 0 0 classid 1:1",
         {"u32", "tc filter show dev eth1 ingress"}, "tc filter del dev eth1 ingress prio 1");
    std::optional<ForeignXdp> xdp;
    meet(
        "an XDP program on the team", [&] { xdp.emplace(wires_.host(), "team0", XDP_FLAGS_SKB_MODE); },
        {"team0 has an XDP program", "attach it to the ports"}, [&] { xdp->detach(); });
}

} // namespace
} // namespace teamo::test
