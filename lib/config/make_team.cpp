// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/steps.h"

#include <algorithm>
#include <cassert>

namespace teamo::config {
namespace {

/// One object of a document, with its path in the table. Returns valid values as written, and the table's
/// default for all others. Does not report errors: check_document() has done so.
class Section {
public:
    /// `object` may be nullptr or not an object: then every value is the default.
    Section(const json::Value* object, std::string_view path) : object_(object), path_(path) {}

    bool boolean(std::string_view name) const { return value_of<bool, bool>(name); }
    /// Empty if there is neither a valid value nor a default.
    std::string string(std::string_view name) const { return value_of<std::string, std::string_view>(name); }
    /// An integer within the key's range; `Number` must hold that range.
    template <class Number = std::uint32_t>
    Number integer(std::string_view name) const {
        return static_cast<Number>(value_of<std::int64_t, std::int64_t>(name));
    }
    milliseconds time(std::string_view name) const { return milliseconds{integer<std::int64_t>(name)}; }
    /// The enumerator of the word: its index in the key's words.
    template <class Enum>
    Enum word(std::string_view name) const {
        const auto words = key(name).rules.words;
        const auto found = std::ranges::find(words, string(name));
        assert(found != words.end());
        return static_cast<Enum>(found - words.begin());
    }

    /// The written value if it is valid, else nullptr.
    const json::Value* written(std::string_view name) const {
        const auto* value = object_ == nullptr ? nullptr : object_->find(name);
        return value != nullptr && fault_of(key(name), *value).empty() ? value : nullptr;
    }
    Section below(std::string_view name) const { return {written(name), key(name).inner()}; }

private:
    const Key& key(std::string_view name) const {
        const auto* found = find_member(path_, name);
        assert(found != nullptr);
        return *found;
    }

    template <class Type, class Default>
    Type value_of(std::string_view name) const {
        if (const auto* value = written(name)) return std::get<Type>(value->data());
        const auto* fallback = std::get_if<Default>(&key(name).rules.fallback);
        return fallback == nullptr ? Type{} : Type(*fallback);
    }

    const json::Value* object_;
    std::string_view path_;
};

/// An integer without a default.
std::optional<std::uint16_t> optional_integer(const Section& section, std::string_view name) {
    if (section.written(name) == nullptr) return std::nullopt;
    return section.integer<std::uint16_t>(name);
}

// As in teamd, a list without any known word is an empty hash, not the default.
HashFields tx_hash_of(const Section& runner) {
    const auto* written = runner.written("tx_hash");
    if (written == nullptr) return default_tx_hash;
    HashFields fields{};
    for (const auto& word : *written->array())
        if (const auto* text = word.string()) fields |= hash_fields_named(*text);
    return fields & ~static_cast<HashFields>(HashField::source);
}

std::optional<TxBalancer> tx_balancer_of(const Section& runner) {
    const auto balancer = runner.below("tx_balancer");
    if (balancer.written("name") == nullptr) return std::nullopt;
    return TxBalancer{.balancing_interval = balancer.time("balancing_interval") * 100};
}

LacpFallback fallback_of(const Section& runner) {
    if (!runner.boolean("fallback")) return LacpFallback::none;
    return runner.string("fallback_method") == "static" ? LacpFallback::all_ports : LacpFallback::one_port;
}

LacpRunner lacp_of(const Section& runner) {
    return {.active = runner.boolean("active"),
            .fast_rate = runner.boolean("fast_rate"),
            .sys_prio = runner.integer<std::uint16_t>("sys_prio"),
            .system = parse_mac_address(runner.string("system")),
            .agg_select_policy = runner.word<AggSelectPolicy>("agg_select_policy"),
            .fallback = fallback_of(runner),
            .tx_hash = tx_hash_of(runner),
            .tx_balancer = tx_balancer_of(runner)};
}

RunnerConfig runner_of(const Section& runner) {
    const auto name = runner.string("name");
    if (name == "broadcast") return BroadcastRunner{};
    if (name == "random") return RandomRunner{};
    if (name == "activebackup")
        return ActiveBackupRunner{.hwaddr_policy = runner.word<HwaddrPolicy>("hwaddr_policy")};
    if (name == "loadbalance")
        return LoadBalanceRunner{.tx_hash = tx_hash_of(runner), .tx_balancer = tx_balancer_of(runner)};
    if (name == "lacp") return lacp_of(runner);
    if (name == "slb") return SlbRunner{.tx_balancer = tx_balancer_of(runner)};
    return RoundRobinRunner{};
}

BalanceConfig balance_of(const Section& section, const RunnerConfig& runner) {
    BalanceConfig balance{.on = false,
                          .aware = section.boolean("aware"),
                          .interval = TxBalancer{}.balancing_interval,
                          .wait_for_gap = section.boolean("wait_for_gap"),
                          .max_wait = section.time("max_wait"),
                          .min_gain = section.integer("min_gain")};
    const auto* balancer = tx_balancer_of(runner);
    if (balancer == nullptr) return balance; // the runner does not hash
    // The sending CPU selects the port: there is nothing to move.
    if (has(hash_fields_of(runner), HashField::cpu)) return balance;
    balance.on = *balancer || (section.written("aware") != nullptr && balance.aware);
    if (*balancer) balance.interval = (*balancer)->balancing_interval;
    return balance;
}

Repetition repetition_of(const Section& section, const RunnerConfig& runner) {
    Repetition repetition{.count = section.integer("count"),
                          .interval = section.time("interval"),
                          .configured = section.written("count") != nullptr};
    // With activebackup the neighbours must learn of each change of the active port.
    if (!repetition.configured && std::holds_alternative<ActiveBackupRunner>(runner)) repetition.count = 1;
    return repetition;
}

ArpPingWatch arp_ping_of(const Section& watch) {
    return {.interval = watch.time("interval"),
            .init_wait = watch.time("init_wait"),
            .missed_max = watch.integer("missed_max"),
            .source_host = watch.string("source_host"),
            .target_host = watch.string("target_host"),
            .validate_active = watch.boolean("validate_active"),
            .validate_inactive = watch.boolean("validate_inactive"),
            .send_always = watch.boolean("send_always"),
            .vlanid = optional_integer(watch, "vlanid")};
}

LinkWatch watch_of(const json::Value& value) {
    const Section watch(&value, "link_watch");
    const auto name = watch.string("name");
    if (name == "arp_ping") return arp_ping_of(watch);
    if (name == "nsna_ping")
        return NsnaPingWatch{.interval = watch.time("interval"),
                             .init_wait = watch.time("init_wait"),
                             .missed_max = watch.integer("missed_max"),
                             .target_host = watch.string("target_host")};
    if (name == "loss") return LossWatch{.max_loss = watch.integer("max_loss"), .retry = watch.time("retry")};
    if (name == "tipc") return TipcWatch{.tipc_bearer = watch.string("tipc_bearer")};
    return EthtoolWatch{.delay_up = watch.time("delay_up"), .delay_down = watch.time("delay_down")};
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

/// Of the first watch that has one.
std::optional<DampingConfig> damping_of(const Section& holder) {
    const auto* written = holder.written("link_watch");
    if (written == nullptr) return std::nullopt;
    const auto of_watch = [](const json::Value& value) -> std::optional<DampingConfig> {
        const Section watch(&value, "link_watch");
        if (watch.written("damping") == nullptr) return std::nullopt;
        const auto damping = watch.below("damping");
        return DampingConfig{.penalty = damping.integer("penalty"),
                             .suppress = damping.integer("suppress"),
                             .reuse = damping.integer("reuse"),
                             .half_life = damping.time("half_life"),
                             .max_suppress = damping.time("max_suppress")};
    };
    if (written->array() == nullptr) return of_watch(*written);
    for (const auto& value : *written->array())
        if (const auto damping = of_watch(value)) return damping;
    return std::nullopt;
}

/// `base`: the values of keys that are not written.
OffloadContract offload_of(const Section& section, OffloadContract base) {
    if (section.written("lacking") != nullptr) base.lacking = section.word<Lacking>("lacking");
    if (section.written("repair") != nullptr) base.repair = section.boolean("repair");
    // Groups first: a single feature overrides its group, whatever their order in the file.
    for (const bool groups : {true, false})
        for (const auto name : offload_names()) {
            const bool is_group = find_offload(name) == nullptr;
            if (is_group != groups || section.written(name) == nullptr) continue;
            const auto wish = section.word<OffloadWish>(name);
            for (const auto feature : offloads_named(name))
                base.wishes.insert_or_assign(std::string(feature), wish);
        }
    return base;
}

/// `policy`: if none is written.
InterruptConfig interrupts_of(const Section& section, InterruptPolicy policy) {
    if (section.written("policy") != nullptr) policy = section.word<InterruptPolicy>("policy");
    return {.policy = policy,
            .cpus = parse_cpu_list(section.string("cpus")).value_or(CpuList{}),
            .xps = section.boolean("xps"),
            .rps = section.boolean("rps"),
            .irqbalance = section.boolean("irqbalance")};
}

PortConfig port_of(const json::Value& value, const TeamConfig& team) {
    const Section section(&value, "ports.PORTIFNAME");
    PortConfig port{.queue_id = optional_integer(section, "queue_id"),
                    .prio = section.integer<std::int32_t>("prio"),
                    .sticky = section.boolean("sticky"),
                    .lacp_prio = section.integer<std::uint16_t>("lacp_prio"),
                    .lacp_key = section.integer<std::uint16_t>("lacp_key"),
                    .drain = section.boolean("drain"),
                    .link_watches = watches_of(section),
                    .damping = damping_of(section),
                    .offload = offload_of(section.below("offload"), team.offload)};
    if (section.written("weight") != nullptr) port.weight = section.integer("weight");
    if (!port.damping) port.damping = team.damping;
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
        WorkerRule rule{.policy = section.word<WorkerPolicy>("policy")};
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
    team.device = device.empty() ? top.string("device") : device;
    team.debug_level = top.integer("debug_level");
    team.hwaddr = parse_mac_address(top.string("hwaddr"));
    team.attach = top.boolean("attach");
    const auto runner = top.below("runner").string("name");
    // Its hash comes from the bond's policy.
    if (team.attach && runner != "slb")
        team.runner = LoadBalanceRunner{.tx_balancer = TxBalancer{}};
    else
        team.runner = runner_of(top.below("runner"));
    if (auto* slb = std::get_if<SlbRunner>(&team.runner); team.attach && slb != nullptr)
        slb->tx_balancer = TxBalancer{};
    team.min_ports = top.below("runner").integer<std::uint16_t>("min_ports");
    team.chooses_active = team.attach && runner == "activebackup";
    team.notify_peers = repetition_of(top.below("notify_peers"), team.runner);
    // The second time for frames of other ways that arrive at a switch after the first.
    if (std::holds_alternative<SlbRunner>(team.runner) && !team.notify_peers.configured)
        team.notify_peers = {.count = 2,
                             .interval = std::max(team.notify_peers.interval, milliseconds{1000})};
    team.mcast_rejoin = repetition_of(top.below("mcast_rejoin"), team.runner);
    team.link_watch_policy = top.word<LinkWatchPolicy>("link_watch_policy");
    team.datapath = top.word<DatapathChoice>("datapath");
    team.balance = balance_of(top.below("balance"), team.runner);
    team.offload = offload_of(top.below("offload"), {});
    team.interrupts =
        interrupts_of(top.below("interrupts"), team.attach ? InterruptPolicy::off : InterruptConfig{}.policy);
    team.guard = top.word<GuardMode>("guard");
    team.workers = workers_of(top);
    team.link_watches = watches_of(top);
    team.damping = damping_of(top);
    if (const auto* ports = top.written("ports"))
        for (const auto& port : *ports->object())
            team.ports.emplace_back(port.key, port_of(port.value, team));
    return team;
}

} // namespace teamo::config
