// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/keys.h"

#include "model/config.h"
#include "support.h"
#include "support/snapshot.h"

#include <fmt/ranges.h>

#include <set>

namespace teamo {
namespace {

using config::Fallback;
using config::Shape;
using testing::Contains;

TEST(ConfigKeys, has_unique_paths_and_known_parents) {
    std::set<std::string_view> paths{""};
    for (const auto& key : config::keys()) {
        EXPECT_TRUE(paths.insert(key.path).second) << key.path;
        EXPECT_TRUE(paths.contains(key.parent())) << key.path;
    }
}

TEST(ConfigKeys, has_help_sentence_for_each_key) {
    for (const auto& key : config::keys())
        EXPECT_TRUE(key.help.ends_with('.')) << key.path;
}

TEST(ConfigKeys, has_valid_defaults) {
    for (const auto& key : config::keys()) {
        const auto* number = std::get_if<std::int64_t>(&key.rules.fallback);
        const auto* word = std::get_if<std::string_view>(&key.rules.fallback);
        EXPECT_TRUE(!std::holds_alternative<bool>(key.rules.fallback) || key.rules.shape == Shape::boolean)
            << key.path;
        EXPECT_TRUE(number == nullptr || key.rules.shape == Shape::integer) << key.path;
        EXPECT_TRUE(number == nullptr ||
                    (*number >= key.rules.range.least && *number <= key.rules.range.most))
            << key.path;
        if (word == nullptr || key.rules.shape != Shape::string || key.rules.words.empty()) continue;
        EXPECT_THAT(key.rules.words, Contains(*word)) << key.path;
    }
}

TEST(ConfigKeys, finds_key_by_path_and_by_object) {
    EXPECT_EQ(config::find_key("ports.PORTIFNAME.prio")->name(), "prio");
    EXPECT_EQ(config::find_key("ports.PORTIFNAME.prio")->parent(), "ports.PORTIFNAME");
    EXPECT_EQ(config::find_key("device")->parent(), "");
    EXPECT_EQ(config::find_key("prio"), nullptr);
    EXPECT_EQ(config::find_member("runner", "name"), config::find_key("runner.name"));
    EXPECT_EQ(config::members_of("runner.tx_balancer").size(), 2U);
}

TEST(ConfigKeys, are_those_of_the_snapshot) {
    std::string text;
    for (const auto& [path, rules, help] : config::keys()) {
        text += fmt::format("{} {}", path, config::name_of(rules.shape));
        if (const auto fallback = config::text_of(rules.fallback); !fallback.empty())
            text += " default " + fallback;
        if (rules.shape == Shape::integer)
            text += fmt::format(" {} to {}", rules.range.least, rules.range.most);
        if (!rules.words.empty()) text += fmt::format(" of {}", fmt::join(rules.words, ", "));
        if (!rules.used_by.empty()) text += fmt::format(" with {}", fmt::join(rules.used_by, ", "));
        text += rules.required ? " required\n" : "\n";
    }
    test::expect_as_in_snapshot("keys", text);
}

TEST(ConfigKeys, has_same_defaults_as_model) {
    const std::pair<const char*, std::string> defaults[] = {
        {"debug_level", fmt::to_string(TeamConfig{}.debug_level)},
        {"runner.name", fmt::format("\"{}\"", name_of(TeamConfig{}.runner))},
        {"runner.sys_prio", fmt::to_string(LacpRunner{}.sys_prio)},
        {"runner.min_ports", fmt::to_string(TeamConfig{}.min_ports)},
        {"runner.active", fmt::to_string(LacpRunner{}.active)},
        {"runner.fast_rate", fmt::to_string(LacpRunner{}.fast_rate)},
        {"runner.tx_balancer.balancing_interval",
         fmt::to_string(TxBalancer{}.balancing_interval.count() / 100)},
        {"runner.tx_hash", R"(["eth", "ipv4", "ipv6"])"},
        {"balance.aware", fmt::to_string(BalanceConfig{}.aware)},
        {"balance.wait_for_gap", fmt::to_string(BalanceConfig{}.wait_for_gap)},
        {"balance.max_wait", fmt::to_string(BalanceConfig{}.max_wait.count())},
        {"balance.min_gain", fmt::to_string(BalanceConfig{}.min_gain)},
        {"interrupts.policy", fmt::format("\"{}\"", name_of(InterruptConfig{}.policy))},
        {"interrupts.xps", fmt::to_string(InterruptConfig{}.xps)},
        {"interrupts.rps", fmt::to_string(InterruptConfig{}.rps)},
        {"interrupts.irqbalance", fmt::to_string(InterruptConfig{}.irqbalance)},
        {"offload.lacking", fmt::format("\"{}\"", name_of(OffloadContract{}.lacking))},
        {"offload.repair", fmt::to_string(OffloadContract{}.repair)},
        {"ports.PORTIFNAME.prio", fmt::to_string(PortConfig{}.prio)},
        {"ports.PORTIFNAME.lacp_prio", fmt::to_string(PortConfig{}.lacp_prio)},
        {"ports.PORTIFNAME.lacp_key", fmt::to_string(PortConfig{}.lacp_key)},
        {"ports.PORTIFNAME.drain", fmt::to_string(PortConfig{}.drain)},
        {"link_watch.interval", fmt::to_string(ArpPingWatch{}.interval.count())},
        {"link_watch.missed_max", fmt::to_string(NsnaPingWatch{}.missed_max)},
        {"link_watch.source_host", fmt::format("\"{}\"", ArpPingWatch{}.source_host)},
        {"link_watch.vlanid", ""},
        {"link_watch.damping.penalty", fmt::to_string(DampingConfig{}.penalty)},
        {"link_watch.damping.half_life", fmt::to_string(DampingConfig{}.half_life.count())},
        {"link_watch.damping.suppress", fmt::to_string(DampingConfig{}.suppress)},
        {"link_watch.damping.reuse", fmt::to_string(DampingConfig{}.reuse)},
        {"link_watch.damping.max_suppress", fmt::to_string(DampingConfig{}.max_suppress.count())},
        {"ports.PORTIFNAME.weight", ""},
    };
    for (const auto& [path, text] : defaults)
        EXPECT_EQ(config::text_of(config::find_key(path)->rules.fallback), text) << path;
}

} // namespace
} // namespace teamo
