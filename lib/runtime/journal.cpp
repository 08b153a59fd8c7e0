// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/journal.h"

#include "kernel/files/files.h"
#include "json/document.h"
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

/// The teams that have a journal, also one that counts elsewhere.
std::vector<std::string> teams_with_journal() {
    std::vector<std::string> teams;
    for (const std::string_view name : sysfs::names_in(std::string(journal_directory)))
        if (name.ends_with(ending)) teams.emplace_back(name.substr(0, name.size() - ending.size()));
    return teams;
}

constexpr auto feature_fields = [](auto field, auto& port) {
    field("features", port.features);
    field("trial", port.trial);
    field("offloads", port.offloads);
};

constexpr auto cpu_fields = [](auto field, auto& setting, auto& cpus) {
    field.name("kind", setting.kind);
    field("number", setting.number);
    field.cpu_text("before", cpus.before);
    field.cpu_text("ours", cpus.ours);
    field.cpu_text("leaving", cpus.leaving);
};

constexpr auto address_fields = [](auto field, auto& address) {
    field.text("address", address.ip, parse_ip);
    field("prefix", address.prefix);
    field("flags", address.flags);
    field.require(address.ip.ipv6 && address.prefix <= 128, "invalid address");
};

constexpr auto lacp_fields = [](auto field, auto& info) {
    field("system_priority", info.system.priority);
    field.text("system", info.system.address, parse_mac_address);
    field("key", info.key);
    field("port_priority", info.port.priority);
    field("port", info.port.number);
    field("state", info.state);
};

constexpr auto memory_fields = [](auto field, auto& memory) {
    field.object("actor", memory.actor, lacp_fields);
    field("by_hand", memory.by_hand);
    field("fallback", memory.fallback);
    field.object("partner", memory.partner, lacp_fields);
};

constexpr auto damping_fields = [](auto field, auto& damping) {
    field("penalty", damping.penalty);
    field("changed", damping.changed);
    field("suppressed_since", damping.suppressed_since);
};

constexpr auto drain_fields = [](auto field, auto& drain) {
    field("by_hand", drain.by_hand);
    field("forced", drain.forced);
    field.name("phase", drain.phase);
};

constexpr auto port_fields = [](auto field, auto& port) {
    field("ifindex", port.index);
    field("slot", port.slot);
    field.name("state", port.state, PortState::joined);
    field("taken_down", port.taken_down);
    field("name", port.name);
    field.text("address", port.address, parse_mac_address);
    field("mtu", port.mtu);
    field("flags", port.flags);
    field("disable_ipv6", port.disable_ipv6);
    field("made_clsact", port.made_clsact);
    feature_fields(field, port);
    field.pairs("cpus", port.cpus, cpu_fields);
    field.list("ipv6_addresses", port.ipv6_addresses, address_fields);
    field("carrier_losses", port.carrier_losses);
    field("unanswered", port.unanswered);
    field("enslaved", port.enslaved);
    field.object("damping", port.damping, damping_fields);
    field("weight", port.weight);
    field.object("drain", port.drain, drain_fields);
    field.object("lacp", port.lacp, memory_fields);
    const bool has_index = port.state == PortState::away || port.index;
    field.require(has_index && port.slot && port.slot.value <= max_ports, "invalid port");
};

constexpr auto process_fields = [](auto field, auto& process) {
    field("process", process.pid);
    field("started", process.started);
};

constexpr auto thread_fields = [](auto field, auto& thread, auto& was) {
    field("thread", thread);
    field("started", was.started);
    field.cpu_text("before", was.before);
};

constexpr auto set_cpu_fields = [](auto field, auto& bound) {
    field.cpu_text("cpus", bound.cpus);
    field.cpu_text("leaving", bound.leaving);
    field.cpu_text("before", bound.before);
};

constexpr auto binding_fields = [](auto field, auto& bound) {
    process_fields(field, bound.id);
    set_cpu_fields(field, bound);
    field.pairs("threads", bound.threads, thread_fields);
};

constexpr auto unit_fields = [](auto field, auto& unit, auto& bound) {
    field("unit", unit);
    set_cpu_fields(field, bound);
    process_fields(field, bound.process);
};

constexpr auto by_hand_fields = [](auto field, auto& process, auto& policy) {
    process_fields(field, process);
    field.name("policy", policy);
};

constexpr auto workers_fields = [](auto field, auto& workers) {
    field.list("processes", workers.processes, binding_fields);
    field.pairs("units", workers.units, unit_fields);
    field.pairs("by_hand", workers.by_hand, by_hand_fields);
};

std::string write_owners(const Journal& journal) {
    std::string owners;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto slot = journal.leaving[bucket] ? journal.leaving[bucket] : journal.owners[bucket];
        owners.push_back(static_cast<char>('0' + slot.value));
    }
    return owners;
}

void read_owners(const json::Value& in, Journal& journal) {
    const auto owners = json::string_of(in);
    for (std::size_t bucket = 0; bucket < std::min(owners.size(), journal.owners.size()); ++bucket)
        if (owners[bucket] >= '0' && owners[bucket] <= '8')
            journal.owners[bucket] = Slot{static_cast<std::uint8_t>(owners[bucket] - '0')};
}

constexpr auto journal_fields = [](auto field, auto& journal) {
    field.write_only("version", journal_version);
    field("network_namespace", journal.network_namespace);
    field("making", journal.making);
    field("attached", journal.attached);
    field("team", journal.team);
    field("inner", journal.inner);
    field("active", journal.active);
    field("active_by_hand", journal.active_by_hand);
    field.text("hwaddr", journal.hwaddr, parse_mac_address);
    field("sets_carrier", journal.sets_carrier);
    field.text("lacp_system", journal.lacp_system, parse_mac_address);
    field.text("bond_policy", journal.bond_policy, named<BondPolicy>);
    field.as("owners", journal, write_owners, read_owners);
    field("offloads", journal.offloads);
    field.records("ports", journal.ports, port_fields);
    field("configured", journal.configured);
    field("removed_by_hand", journal.removed_by_hand);
    field.object("workers", journal.workers, workers_fields);
};

/// What names no process, no unit or no CPU binds nothing.
void drop_empty(BoundWorkers& workers) {
    std::erase_if(workers.processes,
                  [](const auto& bound) { return bound.id.pid <= 0 || bound.cpus.empty(); });
    std::erase_if(workers.units, [](const auto& unit) { return unit.first.empty(); });
    std::erase_if(workers.by_hand, [](const auto& process) { return process.first.pid <= 0; });
}

} // namespace

std::string text_of(const Journal& journal) {
    return json::write(json::write_fields(journal, journal_fields)) + "\n";
}

Result<Journal> parse_journal(std::string_view content, std::string* later) {
    const auto value = json::parse(content, {.bytes = longest_journal});
    if (!value) return fail(EBADMSG, value.error().text);
    auto journal = TEAMO_TRY(json::read_versioned<Journal>(*value, journal_fields, later));
    for (auto& port : journal.ports)
        for (auto& address : port.ipv6_addresses)
            address.device = port.index;
    drop_empty(journal.workers);
    return journal;
}

Result<std::optional<Journal>> read_journal(std::string_view team, std::string* later) {
    const auto path = path_of(team);
    auto content = read_file(path, longest_journal);
    if (!content && content.error().number == ENOENT) return std::optional<Journal>();
    if (!content) return tl::unexpected(content.error());
    auto journal = TEAMO_TRY(within(path, parse_journal(*content, later)));
    if (journal.network_namespace != network_namespace()) return std::optional<Journal>();
    return std::optional(std::move(journal));
}

Result<> write_journal(std::string_view team, const Journal& journal) {
    if (::mkdir(std::string(journal_directory).c_str(), 0750) < 0 && errno != EEXIST)
        return fail_errno(errno, journal_directory);
    return replace_file(path_of(team), text_of(journal));
}

void remove_journal(std::string_view team) { remove_file(path_of(team)); }

Result<> rename_journal(std::string_view from, std::string_view to) {
    const auto path = path_of(from);
    if (std::rename(path.c_str(), path_of(to).c_str()) < 0) return fail_errno(errno, path);
    return {};
}

std::map<std::string, IfIndex> read_attached(const std::function<bool(std::string_view team)>& skip) {
    std::map<std::string, IfIndex> attached;
    for (const auto& team : teams_with_journal()) {
        if (skip(team)) continue;
        const auto journal = read_journal(team).value_or(std::nullopt);
        if (journal && journal->attached) attached.emplace(team, journal->team);
    }
    return attached;
}

std::map<std::string, BoundWorkers> read_workers_of_others(std::string_view team,
                                                           const std::function<bool(IfIndex)>& is_there) {
    std::map<std::string, BoundWorkers> others;
    for (const auto& other : teams_with_journal()) {
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
