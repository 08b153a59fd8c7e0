// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/make_team.h"

#include "config/section.h"

#include <algorithm>
#include <array>

namespace teamo::config {
namespace {

// As in teamd, a list without any known word is an empty hash, not the default.
HashFields tx_hash_of(const Section& runner) {
    const auto* written = runner.written("tx_hash");
    if (written == nullptr) return default_tx_hash;
    HashFields fields{};
    for (const auto& word : *written->array())
        if (const auto* text = word.string()) fields |= hash_fields_named(*text);
    return fields;
}

std::optional<TxBalancer> tx_balancer_of(const Section& runner) {
    const auto balancer = runner.below("tx_balancer");
    if (balancer.written("name") == nullptr) return std::nullopt;
    return TxBalancer{.balancing_interval = milliseconds{balancer.integer("balancing_interval") * 100}};
}

LacpRunner lacp_of(const Section& runner) {
    return {.active = runner.boolean("active"),
            .fast_rate = runner.boolean("fast_rate"),
            .sys_prio = runner.integer<std::uint16_t>("sys_prio"),
            .min_ports = runner.integer<std::uint16_t>("min_ports"),
            .agg_select_policy = static_cast<AggSelectPolicy>(runner.word("agg_select_policy")),
            .tx_hash = tx_hash_of(runner),
            .tx_balancer = tx_balancer_of(runner)};
}

RunnerConfig runner_of(const Section& runner) {
    const auto name = runner.string("name");
    if (name == "broadcast") return BroadcastRunner{};
    if (name == "random") return RandomRunner{};
    if (name == "activebackup")
        return ActiveBackupRunner{.hwaddr_policy = static_cast<HwaddrPolicy>(runner.word("hwaddr_policy"))};
    if (name == "loadbalance")
        return LoadBalanceRunner{.tx_hash = tx_hash_of(runner), .tx_balancer = tx_balancer_of(runner)};
    if (name == "lacp") return lacp_of(runner);
    return RoundRobinRunner{};
}

const std::optional<TxBalancer>* tx_balancer_of(const RunnerConfig& runner) {
    if (const auto* balance = std::get_if<LoadBalanceRunner>(&runner)) return &balance->tx_balancer;
    if (const auto* lacp = std::get_if<LacpRunner>(&runner)) return &lacp->tx_balancer;
    return nullptr;
}

BalanceConfig balance_of(const Section& section, const RunnerConfig& runner) {
    BalanceConfig balance{.on = false,
                          .aware = section.boolean("aware"),
                          .interval = TxBalancer{}.balancing_interval,
                          .wait_for_gap = section.boolean("wait_for_gap"),
                          .max_wait = milliseconds{section.integer("max_wait")},
                          .min_gain = section.integer<std::uint32_t>("min_gain")};
    const auto* balancer = tx_balancer_of(runner);
    if (balancer == nullptr) return balance; // the runner does not hash
    // The sending CPU selects the port: there is nothing to move.
    if (has(hash_fields_of(runner), HashField::cpu)) return balance;
    balance.on = *balancer || (section.written("aware") != nullptr && balance.aware);
    if (*balancer) balance.interval = (*balancer)->balancing_interval;
    return balance;
}

Repetition repetition_of(const Section& section, const RunnerConfig& runner) {
    Repetition repetition{.count = section.integer<std::uint32_t>("count"),
                          .interval = milliseconds{section.integer("interval")},
                          .configured = section.written("count") != nullptr};
    // With activebackup the neighbours must learn of each change of the active port.
    if (!repetition.configured && std::holds_alternative<ActiveBackupRunner>(runner)) repetition.count = 1;
    return repetition;
}

ArpPingWatch arp_ping_of(const Section& watch) {
    ArpPingWatch arp_ping{.interval = milliseconds{watch.integer("interval")},
                          .init_wait = milliseconds{watch.integer("init_wait")},
                          .missed_max = watch.integer<std::uint32_t>("missed_max"),
                          .source_host = watch.string("source_host"),
                          .target_host = *watch.written("target_host")->string(),
                          .validate_active = watch.boolean("validate_active"),
                          .validate_inactive = watch.boolean("validate_inactive"),
                          .send_always = watch.boolean("send_always"),
                          .vlanid = std::nullopt};
    if (const auto* vlanid = watch.written("vlanid"))
        arp_ping.vlanid = static_cast<std::uint16_t>(*vlanid->integer());
    return arp_ping;
}

LinkWatch watch_of(const json::Value& value) {
    const Section watch(&value, "link_watch");
    const auto name = *watch.written("name")->string();
    if (name == "arp_ping") return arp_ping_of(watch);
    if (name == "nsna_ping")
        return NsnaPingWatch{.interval = milliseconds{watch.integer("interval")},
                             .init_wait = milliseconds{watch.integer("init_wait")},
                             .missed_max = watch.integer<std::uint32_t>("missed_max"),
                             .target_host = *watch.written("target_host")->string()};
    if (name == "tipc") return TipcWatch{.tipc_bearer = *watch.written("tipc_bearer")->string()};
    return EthtoolWatch{.delay_up = milliseconds{watch.integer("delay_up")},
                        .delay_down = milliseconds{watch.integer("delay_down")}};
}

std::vector<LinkWatch> watches_of(const Section& holder) {
    std::vector<LinkWatch> watches;
    const auto* written = holder.written("link_watch");
    if (written == nullptr) return watches;
    if (written->object() != nullptr) watches.push_back(watch_of(*written));
    if (const auto* array = written->array())
        for (const auto& watch : *array)
            watches.push_back(watch_of(watch));
    return watches;
}

/// `base`: the values of keys that are not written.
OffloadContract offload_of(const Section& section, OffloadContract base) {
    if (section.written("lacking") != nullptr) base.lacking = static_cast<Lacking>(section.word("lacking"));
    if (section.written("repair") != nullptr) base.repair = section.boolean("repair");
    // Groups first: a single feature overrides its group, whatever their order in the file.
    for (const bool groups : {true, false})
        for (const auto name : offload_names()) {
            const bool is_group = find_offload(name) == nullptr;
            if (is_group != groups || section.written(name) == nullptr) continue;
            const auto wish = static_cast<OffloadWish>(section.word(name));
            for (const auto feature : offloads_named(name))
                base.wishes.insert_or_assign(std::string(feature), wish);
        }
    return base;
}

InterruptConfig interrupts_of(const Section& section) {
    InterruptConfig interrupts{.policy = static_cast<InterruptPolicy>(section.word("policy")),
                               .cpus = {},
                               .xps = section.boolean("xps"),
                               .rps = section.boolean("rps"),
                               .irqbalance = section.boolean("irqbalance")};
    if (const auto* cpus = section.written("cpus"))
        interrupts.cpus = parse_cpu_list(*cpus->string()).value_or(CpuList{});
    return interrupts;
}

PortConfig port_of(const json::Value& value, const TeamConfig& team) {
    const Section section(&value, "ports.PORTIFNAME");
    PortConfig port{.queue_id = std::nullopt,
                    .prio = section.integer<std::int32_t>("prio"),
                    .sticky = section.boolean("sticky"),
                    .lacp_prio = section.integer<std::uint16_t>("lacp_prio"),
                    .lacp_key = section.integer<std::uint16_t>("lacp_key"),
                    .link_watches = watches_of(section),
                    .offload = offload_of(section.below("offload"), team.offload)};
    if (const auto* queue_id = section.written("queue_id"))
        port.queue_id = static_cast<std::uint16_t>(*queue_id->integer());
    port.link_watches.insert(port.link_watches.end(), team.link_watches.begin(), team.link_watches.end());
    if (port.link_watches.empty()) port.link_watches.emplace_back(EthtoolWatch{});
    return port;
}

std::vector<WorkerRule> workers_of(const Section& top) {
    std::vector<WorkerRule> rules;
    const auto* written = top.written("workers");
    if (written == nullptr) return rules;
    for (const auto& value : *written->array()) {
        const Section section(&value, "workers");
        WorkerRule rule{.policy = static_cast<WorkerPolicy>(section.word("policy"))};
        for (std::size_t selector = 0; selector < worker_selector_names.size(); ++selector)
            if (const auto* name = section.written(worker_selector_names[selector])) {
                rule.selector = static_cast<WorkerSelector>(selector);
                rule.name = *name->string();
            }
        rules.push_back(std::move(rule));
    }
    return rules;
}

} // namespace

TeamConfig make_team(const json::Value& document, std::string_view device) {
    const Section top(&document, "");
    TeamConfig team;
    if (const auto* written = top.written("device")) team.device = *written->string();
    if (!device.empty()) team.device = device;
    team.debug_level = top.integer<std::uint32_t>("debug_level");
    if (const auto* hwaddr = top.written("hwaddr")) team.hwaddr = parse_mac_address(*hwaddr->string());
    team.runner = runner_of(top.below("runner"));
    team.notify_peers = repetition_of(top.below("notify_peers"), team.runner);
    team.mcast_rejoin = repetition_of(top.below("mcast_rejoin"), team.runner);
    team.link_watch_policy = static_cast<LinkWatchPolicy>(top.word("link_watch_policy"));
    team.datapath = static_cast<DatapathChoice>(top.word("datapath"));
    team.balance = balance_of(top.below("balance"), team.runner);
    team.offload = offload_of(top.below("offload"), {});
    team.interrupts = interrupts_of(top.below("interrupts"));
    team.workers = workers_of(top);
    team.link_watches = watches_of(top);
    if (const auto* ports = top.written("ports"))
        for (const auto& port : *ports->object())
            team.ports.emplace_back(port.key, port_of(port.value, team));
    return team;
}

} // namespace teamo::config
