// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/journal.h"

#include "json/parse.h"
#include "json/write.h"

#include <gmock/gmock.h>
#include <linux/if_addr.h>

#include <random>

namespace teamo {
namespace {

Journal sample() {
    Journal journal;
    journal.network_namespace = 4026531840;
    journal.team = IfIndex{12};
    journal.inner = IfIndex{11};
    journal.active = IfIndex{5};
    journal.active_by_hand = true;
    journal.attached = true;
    journal.hwaddr = MacAddress{{2, 0, 0, 0, 0, 7}};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        journal.owners[bucket] = Slot{static_cast<std::uint8_t>(1 + bucket % 2)};
    journal.ports = {{.index = IfIndex{3},
                      .slot = Slot{1},
                      .state = PortState::joined,
                      .name = "eth1",
                      .address = {{2, 0, 0, 0, 0, 1}},
                      .mtu = 1500,
                      .flags = 4098,
                      .disable_ipv6 = false,
                      .made_clsact = true,
                      .features = {{"rx-lro", true}, {"rx-vlan-filter", true}},
                      .trial = {{"tx-tcp-segmentation", true}},
                      .cpus = {{{.kind = CpuSetting::Kind::irq, .number = 33},
                                {.before = {0, 1, 2, 3}, .ours = {2}, .leaving = {3}}},
                               {{.kind = CpuSetting::Kind::rps, .number = 0},
                                {.before = {}, .ours = {0, 2}, .leaving = {}}}},
                      .ipv6_addresses = {{.device = IfIndex{3},
                                          .ip = *parse_ip("fd00::5"),
                                          .tentative = false,
                                          .prefix = 64,
                                          .flags = IFA_F_PERMANENT | IFA_F_NODAD}},
                      .carrier_losses = 7,
                      .unanswered = true,
                      .enslaved = true,
                      .damping = DampingMemory{.penalty = 2500, .changed = 9000, .suppressed_since = 8000},
                      .weight = 40,
                      .drain = {.by_hand = true, .forced = true, .phase = DrainPhase::telling},
                      .lacp = {.actor = {.key = 11, .port = {.priority = 255, .number = 1}, .state = 0x3f},
                               .partner = {.system = {.priority = 1, .address = {{2, 0, 0, 0, 0, 9}}},
                                           .key = 65535,
                                           .port = {.priority = 3, .number = 4},
                                           .state = 0x3d},
                               .by_hand = true}},
                     {.index = IfIndex{5},
                      .slot = Slot{2},
                      .state = PortState::leaving,
                      .taken_down = true,
                      .name = "eth1.100",
                      .address = {{2, 0, 0, 0, 0, 2}},
                      .mtu = 9000,
                      .flags = 4099,
                      .disable_ipv6 = std::nullopt,
                      .made_clsact = false,
                      .features = {},
                      .offloads = {"rx-gro", "tx-tcp-segmentation"},
                      .ipv6_addresses = {}}};
    journal.ports.push_back({.index = {}, .slot = Slot{3}, .state = PortState::away, .name = "eth2"});
    journal.ports.push_back(
        {.index = IfIndex{9}, .slot = Slot{4}, .state = PortState::joining, .name = "eth3"});
    journal.making = true;
    journal.sets_carrier = true;
    journal.offloads = {"tx-tcp-segmentation"};
    journal.removed_by_hand = {"eth7"};
    journal.bond_policy = BondPolicy::layer23;
    journal.workers = {
        .processes = {{.id = {.pid = 70, .started = 5000},
                       .cpus = {2},
                       .leaving = {4, 5},
                       .before = {0, 1, 2, 3},
                       .threads = {{71, {.started = 5001, .before = {3}}}}}},
        .units = {{"w@1.service", {.cpus = {1}, .leaving = {}, .before = {}, .process = {80, 6000}}}},
        .by_hand = {{{70, 5000}, WorkerPolicy::spread}, {{90, 7000}, WorkerPolicy::off}}};
    return journal;
}

TEST(Journal, names_the_port_by_which_a_waiting_bucket_leaves_as_its_owner) {
    auto journal = sample();
    journal.owners[7] = Slot{2};
    journal.leaving[7] = Slot{1};
    const auto read = parse_journal(text_of(journal));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(Slot{1}, read->owners[7]);
    EXPECT_FALSE(read->leaving[7]);
}

TEST(Journal, reads_back_written_text) {
    const auto read = parse_journal(text_of(sample()));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, sample());
    const auto empty = parse_journal(text_of(Journal{}));
    ASSERT_TRUE(empty);
    EXPECT_EQ(*empty, Journal{});
}

TEST(Journal, reads_text_without_features_and_states) {
    const auto read = parse_journal(
        R"({"version": 1, "network_namespace": 7, "team": 12, "inner": 11, "owners": "", "ports": [{"ifindex": 3,
            "slot": 1, "name": "eth1", "address": "02:00:00:00:00:01", "mtu": 1500, "flags": 4098,
            "disable_ipv6": false, "made_clsact": true}], "removed_by_hand": []})");
    ASSERT_TRUE(read) << read.error().text;
    ASSERT_EQ(read->ports.size(), 1U);
    EXPECT_EQ(read->ports[0].features, FeatureSettings{});
    EXPECT_EQ(read->ports[0].state, PortState::joined);
    EXPECT_TRUE(read->ports[0].ipv6_addresses.empty());
}

TEST(Journal, rejects_invalid_values) {
    using json::Array;
    using json::Object;
    const std::vector<std::pair<std::string, json::Value>> all{
        {"mtu", "1500"},
        {"slot", 9},
        {"state", "there"},
        {"address", "02:00"},
        {"features", Object{{"rx-lro", 1}}},
        {"cpus", Array{Object{{"kind", "ir"}}}},
        {"ipv6_addresses", Array{7}},
        {"ipv6_addresses", Array{Object{{"address", "fd00::x"}, {"prefix", 64}}}},
        {"ipv6_addresses", Array{Object{{"address", "10.0.0.1"}, {"prefix", 24}}}},
        {"ipv6_addresses", Array{Object{{"address", "fd00::1"}, {"prefix", 129}}}},
    };
    for (const auto& [key, value] : all) {
        auto document = json::parse(text_of(sample())).value();
        document.find("ports")->array()->front().set(key, value);
        const auto read = parse_journal(json::write(document));
        ASSERT_FALSE(read) << key << " " << json::write(value);
        EXPECT_EQ(read.error().number, EBADMSG);
    }
}

TEST(Journal, has_processes_named_by_hand_although_none_is_bound) {
    Journal journal;
    journal.workers.by_hand = {{{70, 5000}, WorkerPolicy::follow}};
    const auto read = parse_journal(text_of(journal));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, journal);
}

/// The sample as a later version writes it.
json::Value of_a_later_version() {
    auto document = json::parse(text_of(sample())).value();
    document.set("version", 2);
    return document;
}

TEST(Journal, needs_a_version) {
    for (const auto& version : {json::Value(0), json::Value(-1), json::Value("1"), json::Value(nullptr)}) {
        auto document = of_a_later_version();
        document.set("version", version);
        EXPECT_FALSE(parse_journal(json::write(document))) << json::write(version);
    }
}

TEST(Journal, of_a_later_version_loses_only_what_is_not_known) {
    auto document = of_a_later_version();
    document.set("colour", "blue");
    document.set("bond_policy", "layer5");
    document.set("hwaddr", 7);
    auto& port = document.find("ports")->array()->front();
    port.find("drain")->set("phase", "asking");
    port.set("mtu", "as the team");
    port.set("disable_ipv6", "later");
    port.find("cpus")->array()->front().set("kind", "napi");
    port.find("ipv6_addresses")->array()->push_back(json::Object{{"address", "fd00::6"}, {"prefix", "any"}});
    document.find("ports")->array()->push_back(json::Object{{"ifindex", 9}, {"slot", 12}});
    document.find("ports")->array()->push_back("eth9");
    auto& workers = *document.find("workers");
    workers.find("by_hand")->array()->front().set("policy", "near");

    auto known = sample();
    known.bond_policy.reset();
    known.hwaddr.reset();
    known.ports[0].drain.phase = {};
    known.ports[0].mtu = 0;
    known.ports[0].disable_ipv6.reset();
    known.ports[0].cpus.erase({.kind = CpuSetting::Kind::irq, .number = 33});
    known.workers.by_hand.erase(known.workers.by_hand.begin());
    std::string later;
    const auto read = parse_journal(json::write(document), &later);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(text_of(*read), text_of(known));
    EXPECT_EQ(*read, known);
    EXPECT_THAT(later, testing::StartsWith("a later version of teamd-offload wrote it; "));
    EXPECT_EQ(parse_journal(text_of(*read)), *read);
}

TEST(Journal, of_a_later_version_is_named) {
    std::string later;
    const auto read = parse_journal(json::write(of_a_later_version()), &later);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, sample());
    EXPECT_FALSE(later.empty());
    later.clear();
    ASSERT_TRUE(parse_journal(text_of(sample()), &later));
    EXPECT_TRUE(later.empty());
}

TEST(Journal, survives_random_damage) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto whole = text_of(sample());
    for (int round = 0; round < 5000; ++round) {
        auto text = whole;
        for (unsigned damage = 1 + random() % 4; damage > 0; --damage)
            text[random() % text.size()] = static_cast<char>(random());
        text.resize(text.size() - random() % 8);
        if (const auto read = parse_journal(text); !read) {
            ASSERT_FALSE(read.error().text.empty());
        }
    }
}

} // namespace
} // namespace teamo
