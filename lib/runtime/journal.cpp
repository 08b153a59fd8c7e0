// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/journal.h"

#include "kernel/files/files.h"
#include "json/fields.h"
#include "json/parse.h"
#include "json/write.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace teamo {
namespace {

constexpr std::int64_t journal_version = 1;

constexpr std::string_view ending = ".json";

std::string path_of(std::string_view team) { return fmt::format("{}/{}{}", journal_directory, team, ending); }

json::Array value_of(const FeatureNames& names) { return json::Array(names.begin(), names.end()); }

json::Object value_of(const FeatureSettings& settings) {
    json::Object value;
    for (const auto& [name, on] : settings)
        value.push_back({name, on});
    return value;
}

/// CPU lists are written like the kernel's ("0-3,6"): a list of numbers would be long on a large machine.
json::Array value_of(const SetCpus& settings) {
    json::Array list;
    for (const auto& [setting, cpus] : settings)
        list.emplace_back(json::Object{{"kind", name_of(setting.kind)},
                                       {"number", setting.number},
                                       {"before", text_of(cpus.before)},
                                       {"ours", text_of(cpus.ours)},
                                       {"leaving", text_of(cpus.leaving)}});
    return list;
}

json::Value value_of(const WorkerBinding& bound) {
    json::Array threads;
    for (const auto& [thread, was] : bound.threads)
        threads.emplace_back(json::Object{{"thread", static_cast<std::int64_t>(thread)},
                                          {"started", static_cast<std::int64_t>(was.started)},
                                          {"before", text_of(was.before)}});
    return json::Object{{"process", static_cast<std::int64_t>(bound.id.pid)},
                        {"started", static_cast<std::int64_t>(bound.id.started)},
                        {"cpus", text_of(bound.cpus)},
                        {"leaving", text_of(bound.leaving)},
                        {"before", text_of(bound.before)},
                        {"threads", std::move(threads)}};
}

json::Value value_of(const BoundWorkers& workers) {
    json::Array processes, units, by_hand;
    for (const auto& bound : workers.processes)
        processes.push_back(value_of(bound));
    for (const auto& [unit, bound] : workers.units)
        units.emplace_back(json::Object{{"unit", unit},
                                        {"cpus", text_of(bound.cpus)},
                                        {"leaving", text_of(bound.leaving)},
                                        {"before", text_of(bound.before)},
                                        {"process", static_cast<std::int64_t>(bound.process.pid)},
                                        {"started", static_cast<std::int64_t>(bound.process.started)}});
    for (const auto& [process, policy] : workers.by_hand)
        by_hand.emplace_back(json::Object{{"process", static_cast<std::int64_t>(process.pid)},
                                          {"started", static_cast<std::int64_t>(process.started)},
                                          {"policy", name_of(policy)}});
    return json::Object{
        {"processes", std::move(processes)}, {"units", std::move(units)}, {"by_hand", std::move(by_hand)}};
}

json::Array value_of(const std::vector<DeviceAddress>& addresses) {
    json::Array list;
    for (const auto& address : addresses)
        list.emplace_back(json::Object{{"address", text_of(address.ip)},
                                       {"prefix", static_cast<int>(address.prefix)},
                                       {"flags", address.flags}});
    return list;
}

json::Value value_of(const lacp::PortInfo& info) {
    return json::Object{{"system_priority", info.system.priority},
                        {"system", text_of(info.system.address)},
                        {"key", info.key},
                        {"port_priority", info.port.priority},
                        {"port", info.port.number},
                        {"state", info.state}};
}

json::Value value_of(const PortBefore& port) {
    json::Value value(json::Object{{"ifindex", port.index.value},
                                   {"slot", static_cast<int>(port.slot.value)},
                                   {"name", port.name},
                                   {"address", text_of(port.address)},
                                   {"mtu", port.mtu},
                                   {"flags", port.flags},
                                   {"made_clsact", port.made_clsact}});
    if (port.state != PortState::joined) value.set("state", name_of(port.state));
    if (port.taken_down) value.set("taken_down", true);
    if (port.disable_ipv6) value.set("disable_ipv6", *port.disable_ipv6);
    if (port.carrier_losses) value.set("carrier_losses", *port.carrier_losses);
    if (port.unanswered) value.set("unanswered", true);
    if (port.enslaved) value.set("enslaved", true);
    if (port.lacp != lacp::PortMemory{})
        value.set("lacp", json::Object{{"actor", value_of(port.lacp.actor)},
                                       {"by_hand", port.lacp.by_hand},
                                       {"fallback", port.lacp.fallback},
                                       {"partner", value_of(port.lacp.partner)}});
    // Empty values are left out, as in the files of earlier versions.
    const auto set = [&value](std::string_view key, const auto& member) {
        if (!member.empty()) value.set(key, value_of(member));
    };
    set("features", port.features);
    set("trial", port.trial);
    set("offloads", port.offloads);
    set("cpus", port.cpus);
    set("ipv6_addresses", port.ipv6_addresses);
    return value;
}

std::uint32_t small(const json::Value& value, std::string_view key) {
    return static_cast<std::uint32_t>(json::number(value, key));
}

FeatureSettings parse_features(const json::Object& written) {
    FeatureSettings features;
    for (const auto& member : written)
        if (const auto* on = member.value.boolean()) features.emplace(member.key, *on);
    return features;
}

template <class Names>
Names parse_names(const json::Array& written) {
    Names names;
    for (const auto& entry : written)
        if (const auto* name = entry.string()) names.insert(names.end(), *name);
    return names;
}

SetCpus parse_cpus(const json::Array& written) {
    using enum CpuSetting::Kind;
    SetCpus settings;
    for (const auto& entry : written)
        for (const auto kind : {irq, thread, xps, rps}) {
            auto before = parse_cpu_list(json::text(entry, "before")),
                 ours = parse_cpu_list(json::text(entry, "ours"));
            const auto leaving = parse_cpu_list(json::text(entry, "leaving")); // none in older journals
            if (json::text(entry, "kind") != name_of(kind) || !before || !ours) continue;
            settings.insert_or_assign({.kind = kind, .number = small(entry, "number")},
                                      SetCpuList{.before = std::move(*before),
                                                 .ours = std::move(*ours),
                                                 .leaving = leaving.value_or(CpuList{})});
        }
    return settings;
}

std::vector<DeviceAddress> parse_addresses(const json::Array& written, IfIndex device) {
    std::vector<DeviceAddress> addresses;
    for (const auto& entry : written) {
        const auto ip = parse_ip(json::text(entry, "address"));
        const auto prefix = small(entry, "prefix");
        if (!ip || !ip->ipv6 || prefix > 128) continue;
        addresses.push_back({.device = device,
                             .ip = *ip,
                             .prefix = static_cast<std::uint8_t>(prefix),
                             .flags = small(entry, "flags")});
    }
    return addresses;
}

ProcessId parse_process(const json::Value& value) {
    return {.pid = static_cast<pid_t>(json::number(value, "process")),
            .started = static_cast<std::uint64_t>(json::number(value, "started"))};
}

WorkerBinding parse_binding(const json::Value& value) {
    WorkerBinding bound{.id = parse_process(value),
                        .cpus = json::cpus(value, "cpus"),
                        .leaving = json::cpus(value, "leaving"),
                        .before = json::cpus(value, "before"),
                        .threads = {}};
    for (const auto& entry : json::array(value, "threads"))
        bound.threads.insert_or_assign(
            static_cast<pid_t>(json::number(entry, "thread")),
            WorkerBinding::Thread{.started = static_cast<std::uint64_t>(json::number(entry, "started")),
                                  .before = json::cpus(entry, "before")});
    return bound;
}

BoundWorkers parse_workers(const json::Value& value) {
    BoundWorkers workers;
    for (const auto& entry : json::array(value, "processes"))
        if (auto bound = parse_binding(entry); bound.id.pid > 0 && !bound.cpus.empty())
            workers.processes.push_back(std::move(bound));
    for (const auto& entry : json::array(value, "units"))
        if (auto unit = json::text(entry, "unit"); !unit.empty())
            workers.units.insert_or_assign(std::move(unit),
                                           UnitBinding{.cpus = json::cpus(entry, "cpus"),
                                                       .leaving = json::cpus(entry, "leaving"),
                                                       .before = json::cpus(entry, "before"),
                                                       .process = parse_process(entry)});
    for (const auto& entry : json::array(value, "by_hand")) {
        const auto process = parse_process(entry);
        if (process.pid <= 0) continue;
        for (const auto policy : {WorkerPolicy::follow, WorkerPolicy::spread, WorkerPolicy::off})
            if (json::text(entry, "policy") == name_of(policy))
                workers.by_hand.insert_or_assign(process, policy);
    }
    return workers;
}

lacp::PortInfo parse_lacp(const json::Value& value) {
    const auto word = [&value](std::string_view key) {
        return static_cast<std::uint16_t>(small(value, key));
    };
    const auto system = parse_mac_address(json::text(value, "system"));
    if (!system) return {};
    return {.system = {.priority = word("system_priority"), .address = *system},
            .key = word("key"),
            .port = {.priority = word("port_priority"), .number = word("port")},
            .state = static_cast<std::uint8_t>(small(value, "state"))};
}

PortState parse_state(std::string_view written) {
    for (const auto state : {PortState::joining, PortState::leaving, PortState::away})
        if (written == name_of(state)) return state;
    return PortState::joined;
}

Result<PortBefore> parse_port(const json::Value& value) {
    PortBefore port;
    port.state = parse_state(json::text(value, "state"));
    port.taken_down = json::flag(value, "taken_down");
    port.index = IfIndex{small(value, "ifindex")};
    const auto slot = small(value, "slot");
    port.name = json::text(value, "name");
    const auto address = parse_mac_address(json::text(value, "address"));
    const bool has_index = port.state == PortState::away || port.index;
    if (!has_index || slot == 0 || slot > max_ports || !address) return fail(EBADMSG, "invalid port");
    port.slot = Slot{static_cast<std::uint8_t>(slot)};
    port.address = *address;
    port.mtu = small(value, "mtu");
    port.flags = small(value, "flags");
    if (const auto* disabled = json::child(value, "disable_ipv6").boolean()) port.disable_ipv6 = *disabled;
    port.made_clsact = json::flag(value, "made_clsact");
    if (value.find("carrier_losses") != nullptr) port.carrier_losses = small(value, "carrier_losses");
    port.unanswered = json::flag(value, "unanswered");
    port.enslaved = json::flag(value, "enslaved");
    const auto& lacp = json::child(value, "lacp");
    port.lacp = {.actor = parse_lacp(json::child(lacp, "actor")),
                 .partner = parse_lacp(json::child(lacp, "partner")),
                 .fallback = json::flag(lacp, "fallback"),
                 .by_hand = json::flag(lacp, "by_hand")};
    port.features = parse_features(json::object(value, "features"));
    port.trial = parse_features(json::object(value, "trial"));
    port.offloads = parse_names<FeatureNames>(json::array(value, "offloads"));
    port.cpus = parse_cpus(json::array(value, "cpus"));
    port.ipv6_addresses = parse_addresses(json::array(value, "ipv6_addresses"), port.index);
    return port;
}

} // namespace

std::string text_of(const Journal& journal) {
    std::string owners;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto slot = journal.leaving[bucket] ? journal.leaving[bucket] : journal.owners[bucket];
        owners.push_back(static_cast<char>('0' + slot.value));
    }
    json::Array ports;
    for (const auto& port : journal.ports)
        ports.push_back(value_of(port));
    const auto& configured = journal.configured;
    const auto& removed = journal.removed_by_hand;
    json::Value value(
        json::Object{{"version", journal_version},
                     {"network_namespace", static_cast<std::int64_t>(journal.network_namespace)},
                     {"team", journal.team.value},
                     {"inner", journal.inner.value},
                     {"owners", std::move(owners)},
                     {"ports", std::move(ports)},
                     {"configured", json::Array(configured.begin(), configured.end())},
                     {"removed_by_hand", json::Array(removed.begin(), removed.end())}});
    if (journal.making) value.set("making", true);
    if (journal.active) value.set("active", journal.active->value);
    if (journal.active_by_hand) value.set("active_by_hand", true);
    if (journal.hwaddr) value.set("hwaddr", text_of(*journal.hwaddr));
    if (journal.lacp_system) value.set("lacp_system", text_of(*journal.lacp_system));
    if (!journal.offloads.empty()) value.set("offloads", value_of(journal.offloads));
    if (journal.workers != BoundWorkers{}) value.set("workers", value_of(journal.workers));
    return json::write(value) + "\n";
}

Result<Journal> parse_journal(std::string_view content) {
    const auto value = json::parse(content, {.bytes = longest_journal});
    if (!value) return fail(EBADMSG, value.error().text);
    if (small(*value, "version") != journal_version) return fail(EBADMSG, "unsupported version");

    Journal journal;
    journal.network_namespace = static_cast<std::uint64_t>(json::number(*value, "network_namespace"));
    journal.making = json::flag(*value, "making");
    journal.team = IfIndex{small(*value, "team")};
    journal.inner = IfIndex{small(*value, "inner")};
    if (const auto active = small(*value, "active"); active != 0) journal.active = IfIndex{active};
    journal.active_by_hand = json::flag(*value, "active_by_hand");
    journal.hwaddr = parse_mac_address(json::text(*value, "hwaddr"));
    journal.lacp_system = parse_mac_address(json::text(*value, "lacp_system"));
    const auto owners = json::text(*value, "owners");
    for (std::size_t bucket = 0; bucket < std::min(owners.size(), journal.owners.size()); ++bucket)
        if (owners[bucket] >= '0' && owners[bucket] <= '8')
            journal.owners[bucket] = Slot{static_cast<std::uint8_t>(owners[bucket] - '0')};
    journal.offloads = parse_names<FeatureNames>(json::array(*value, "offloads"));
    for (const auto& entry : json::array(*value, "ports"))
        journal.ports.push_back(TEAMO_TRY(parse_port(entry)));
    journal.configured = parse_names<std::vector<std::string>>(json::array(*value, "configured"));
    journal.removed_by_hand = parse_names<std::vector<std::string>>(json::array(*value, "removed_by_hand"));
    journal.workers = parse_workers(json::child(*value, "workers"));
    return journal;
}

Result<std::optional<Journal>> read_journal(std::string_view team) {
    const auto path = path_of(team);
    auto content = read_file(path, longest_journal);
    if (!content && content.error().number == ENOENT) return std::optional<Journal>();
    if (!content) return tl::unexpected(content.error());
    auto journal = TEAMO_TRY(within(path, parse_journal(*content)));
    if (journal.network_namespace != network_namespace()) return std::optional<Journal>();
    return std::optional(std::move(journal));
}

Result<> write_journal(std::string_view team, const Journal& journal) {
    if (::mkdir(std::string(journal_directory).c_str(), 0750) < 0 && errno != EEXIST)
        return fail_errno(errno, journal_directory);
    return replace_file(path_of(team), text_of(journal));
}

void remove_journal(std::string_view team) { remove_file(path_of(team)); }

std::map<std::string, BoundWorkers> read_workers_of_others(std::string_view team,
                                                           const std::function<bool(IfIndex)>& is_there) {
    std::map<std::string, BoundWorkers> others;
    for (const std::string_view name : sysfs::names_in(std::string(journal_directory))) {
        if (!name.ends_with(ending)) continue;
        const auto other = name.substr(0, name.size() - ending.size());
        if (other == team) continue;
        const auto content = read_file(path_of(other), longest_journal);
        auto journal = content ? parse_journal(*content) : Result<Journal>(tl::unexpected(content.error()));
        if (!journal || (journal->network_namespace == network_namespace() && !is_there(journal->team)))
            continue;
        if (!journal->workers.empty()) others.emplace(other, std::move(journal->workers));
    }
    return others;
}

Result<std::string> set_journal_aside(std::string_view team) {
    const auto path = path_of(team);
    auto aside = path + ".unreadable";
    if (std::rename(path.c_str(), aside.c_str()) < 0) return fail_errno(errno, path);
    return aside;
}

} // namespace teamo
