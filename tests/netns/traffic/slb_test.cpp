// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The runner slb: without help by the switches each address sends and receives by one port, no frame arrives
// twice, and none comes back.
//
// lab: *Slb.takes_* SlbHost.* SlbAttached.* by bond on newest, 30 s
// lab: *Slb.* SlbHost.* SlbAttached.* SlbAnnouncement.* by bond, 60 s, long
// lab: *Slb.* SlbHost.* SlbAttached.* SlbAnnouncement.* by none: the team driver refuses this runner
#include "netns/balance/balance_state.h"
#include "netns/team_driver.h"
#include "netns/traffic/switched_guests.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>

namespace teamo::test {
namespace {

constexpr std::string_view
    slb = R"({"name": "slb", "tx_balancer": {"name": "basic", "balancing_interval": 2}})",
    slb_by_hand = R"({"name": "slb"})";

void move_addresses(const TeamUnderTest& team, const SwitchedGuests& scene, unsigned count,
                    std::mt19937& random) {
    for (unsigned move = 0; move < count; ++move) {
        const auto state = balance_of(team);
        const auto bucket = state.busiest.at(random() % state.busiest.size());
        const auto port = SwitchedGuests::port(static_cast<unsigned>(1 + random() % scene.ports()));
        const auto done = team.teamoctl({"balance", "move", std::to_string(bucket), port});
        ASSERT_EQ(0, done.status) << done.err;
    }
    ASSERT_TRUE(eventually("", [&] { return balance_of(team).pending == 0; }, 30s));
}

class Slb : public testing::TestWithParam<unsigned> {
protected:
    SwitchedGuests scene_{GetParam()};
    std::mt19937 random_{20261129};
};

TEST_P(Slb, takes_each_frame_once_while_addresses_move) {
    const TeamUnderTest team(team_config(slb, ports_object(scene_.ports())));
    ASSERT_EQ(0, team.teamoctl({"balance", "freeze"}).status);
    scene_.begin(team);
    const auto from = scene_.sent();
    scene_.start_traffic(SwitchedGuests::some());
    ASSERT_TRUE(eventually("", [&] { return balance_of(team).busiest.size() >= 40; }, 20s));
    move_addresses(team, scene_, 20, random_);
    const auto drained = team.teamoctl({"port", "drain", "eth1"});
    EXPECT_EQ(0, drained.status) << drained.err << ", what the switches flood does not hold it";
    scene_.stop_traffic();
    const auto moved = scene_.tally(from);
    EXPECT_EQ(0U, moved.lost + moved.twice + moved.back + moved.late) << text_of(moved);
    EXPECT_EQ(SwitchedGuests::guests, scene_.reached(4, long_enough));
}

TEST_P(Slb, loses_no_guest_with_a_cable) {
    const TeamUnderTest team(team_config(slb_by_hand, ports_object(scene_.ports())));
    scene_.begin(team);
    scene_.start_traffic(SwitchedGuests::some());
    for (unsigned pull = 0; pull < 4; ++pull) {
        const auto number = 1 + pull % scene_.ports();
        scene_.pull(number);
        ASSERT_TRUE(team.await_link(SwitchedGuests::port(number), false));
        EXPECT_TRUE(
            eventually("every guest answers", [&] { return scene_.reached(1) == SwitchedGuests::guests; }));
        scene_.plug(number);
        ASSERT_TRUE(team.await_link(SwitchedGuests::port(number)));
        EXPECT_TRUE(
            eventually("every guest answers", [&] { return scene_.reached(1) == SwitchedGuests::guests; }));
    }
    scene_.stop_traffic();
    const auto seen = scene_.tally();
    EXPECT_EQ(0U, seen.twice + seen.back) << text_of(seen);
}

TEST_P(Slb, spreads_addresses_both_ways) {
    const TeamUnderTest team(team_config(slb, ports_object(scene_.ports())));
    scene_.begin(team);
    scene_.start_traffic(SwitchedGuests::some());
    Fullest fullest;
    EXPECT_TRUE(eventually(
        "the fullest port has at most 1.1 of the mean each way",
        [&] {
            const PortBytes before(team, scene_.ports());
            std::this_thread::sleep_for(500ms);
            fullest = PortBytes(team, scene_.ports()).since(before);
            return fullest.sent <= 1.1 && fullest.received <= 1.1;
        },
        20s))
        << fullest.sent << " sent, " << fullest.received << " received";
    scene_.stop_traffic();
    const auto seen = scene_.tally();
    EXPECT_EQ(0U, seen.twice + seen.back) << text_of(seen);
}

/// The address's bucket goes to the other one of two ports; returns the number of that port.
unsigned move_address(const TeamUnderTest& team, const MacAddress& address, std::string_view vlan = "") {
    std::vector<std::string> words{"balance", "hash", "smac", teamo::text_of(address)};
    if (!vlan.empty()) words.insert(words.end(), {"vlan", std::string(vlan)});
    const auto said = team.teamoctl(words).out;
    const auto bucket = said.substr(7, said.find(' ', 7) - 7);
    const unsigned to = said.find("leaves by eth1") == std::string::npos ? 1 : 2;
    const auto done = team.teamoctl({"balance", "move", bucket, Cabling::port(to)});
    if (done.status != 0) throw SetupError(said + done.err);
    return to;
}

TEST(SlbAnnouncement, names_guests_by_rarp_and_the_host_by_arp) {
    constexpr std::uint16_t ether_rarp = 0x8035;
    const Cabling wires(2, FarSide::open);
    const TeamUnderTest team(team_config(slb_by_hand, ports_object(2), R"("notify_peers": {"count": 1}, )"));
    bring_up(wires, team);
    const PacketSocket guests(wires.host(), "team0");
    const auto announced_at = [&](unsigned port, std::uint16_t ethertype, const MacAddress& address,
                                  std::optional<std::uint16_t> tag) {
        return [socket = std::make_shared<PacketSocket>(wires.peer(), Cabling::far_end(port)), ethertype,
                address, tag] {
            return socket
                ->await([&](const Seen& seen) {
                    return !seen.outgoing && ethertype_of(seen.frame) == ethertype &&
                           source_of(seen.frame) == address && seen.tag == tag;
                })
                .has_value();
        };
    };
    const auto own = mac(look(wires.host(), "team0").address), guest = mac("02:10:00:00:00:07");
    guests.send(ethernet(broadcast_mac, guest, ether_experiment, "x"));
    guests.send(tagged(broadcast_mac, guest, 30, ether_experiment, "x"));
    const auto at = [&](unsigned port) { return announced_at(port, ether_rarp, guest, std::nullopt); };
    const std::array by_rarp{at(1), at(2)};
    EXPECT_TRUE(by_rarp.at(move_address(team, guest) - 1)());
    const std::array by_tagged_rarp{announced_at(1, ether_rarp, guest, 30),
                                    announced_at(2, ether_rarp, guest, 30)};
    EXPECT_TRUE(by_tagged_rarp.at(move_address(team, guest, "30") - 1)());
    const std::array by_arp{announced_at(1, ether_arp, own, std::nullopt),
                            announced_at(2, ether_arp, own, std::nullopt)};
    EXPECT_TRUE(by_arp.at(move_address(team, own) - 1)());

    for (const unsigned number : {1U, 2U}) {
        wires.pull(number);
        ASSERT_TRUE(team.await_link(Cabling::port(number), false));
    }
    const auto once_more = at(1);
    wires.plug(1);
    EXPECT_TRUE(once_more()) << "after all ports were lost";
}

TEST(SlbHost, is_reached_by_its_own_addresses_and_those_of_containers) {
    const Cabling wires(4, FarSide::learning_switch);
    const TeamUnderTest team(team_config(slb_by_hand, ports_object(4)));
    bring_up(wires, team);
    const auto container = NetNs::create();
    must(wires.host(), "ip link add link team0 name mv0 type macvlan mode bridge; ip link set mv0 netns " +
                           container.path());
    container.ip("link set mv0 up\naddr add 10.0.0.3/24 dev mv0\naddr add fd00::3/64 dev mv0 nodad");
    for (unsigned number = 1; number <= 4; ++number) {
        wires.pull(number);
        ASSERT_TRUE(team.await_link(Cabling::port(number), false));
        for (const auto* address : {team_v4, team_v6, "10.0.0.3", "fd00::3"})
            EXPECT_TRUE(eventually(address, [&] { return reaches(wires.client(), address); }));
        wires.plug(number);
        ASSERT_TRUE(team.await_link(Cabling::port(number)));
    }
}

TEST(SlbAttached, takes_each_frame_once_on_a_bond_of_others) {
    if (!kernel_has_driver("bond")) GTEST_SKIP() << "this kernel has no bonding";
    const NoOptionsForAll options;
    SwitchedGuests scene(2);
    std::string lines = "link add bond0 type bond mode balance-xor miimon 100 xmit_hash_policy vlan+srcmac";
    for (unsigned number = 1; number <= scene.ports(); ++number)
        lines += fmt::format("\nlink set {} master bond0", SwitchedGuests::port(number));
    NetNs::current().ip(lines + "\nlink set bond0 up");
    TeamUnderTest team(R"({"device": "bond0", "attach": true, "runner": {"name": "slb"}})", {}, "bond0");
    ASSERT_TRUE(team.await_item("attached.steered", "true"));
    scene.begin(team, "bond0");
    scene.start_traffic(SwitchedGuests::some());
    ASSERT_TRUE(eventually("", [&] { return balance_of(team).busiest.size() >= 40; }, 20s));
    const auto from = scene.sent();
    std::mt19937 random{20261129};
    move_addresses(team, scene, 20, random);
    scene.stop_traffic();
    const auto moved = scene.tally(from);
    EXPECT_EQ(0U, moved.lost + moved.twice + moved.back) << text_of(moved);
    EXPECT_EQ(SwitchedGuests::guests, scene.reached(2, long_enough));

    // Bonding chooses the slaves, and nobody tells the programs.
    team.kill();
    scene.start_traffic(SwitchedGuests::some());
    for (const auto* change : {"link set bond0 type bond xmit_hash_policy layer2",
                               "link set bond0 type bond xmit_hash_policy encap3+4\nlink set eth1 nomaster\n"
                               "link set eth1 up"}) {
        NetNs::current().ip(change);
        EXPECT_TRUE(eventually(change, [&] { return scene.reached(1) == SwitchedGuests::guests; }, 30s));
    }
    scene.stop_traffic();
}

TEST(SlbConfiguration, is_refused_by_the_team_driver) {
    const auto said = daemon_on(team_config(slb_by_hand, "{}"), {"--datapath", "team"});
    EXPECT_EQ(1, said.status);
    EXPECT_THAT(said.err, testing::HasSubstr("/runner/name: the kernel's team driver cannot drop"));
}

INSTANTIATE_TEST_SUITE_P(Switches, Slb, testing::Values(1U, 2U));

} // namespace
} // namespace teamo::test
