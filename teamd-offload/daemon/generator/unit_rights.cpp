// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/generator/unit_rights.h"

#include "base/ip_address.h"
#include "config/config_file.h"
#include "kernel/files/files.h"
#include "runtime/journal.h"

#include <system_error>

namespace teamo {
namespace {

bool is_name(const std::string& host) { return !host.empty() && !parse_ip(host); }

void add(UnitRights& rights, const std::vector<LinkWatch>& watches) {
    for (const auto& watch : watches) {
        if (const auto* arp = std::get_if<ArpPingWatch>(&watch))
            rights.asks_name_servers |= is_name(arp->source_host) || is_name(arp->target_host);
        else if (const auto* nsna = std::get_if<NsnaPingWatch>(&watch))
            rights.asks_name_servers |= is_name(nsna->target_host);
        else if (std::holds_alternative<TipcWatch>(watch))
            rights.uses_tipc = true;
    }
}

} // namespace

UnitRights rights_of(const TeamConfig& config) {
    UnitRights rights{.binds_processes = !config.workers.empty()};
    add(rights, config.link_watches);
    for (const auto& [name, port] : config.ports)
        add(rights, port.link_watches);
    return rights;
}

std::string drop_in(const UnitRights& rights) {
    std::string lines;
    if (rights.binds_processes)
        lines += "# The key \"workers\": processes of other users are seen, bound and released.\n"
                 "CapabilityBoundingSet=CAP_SYS_NICE\n"
                 "ProtectProc=default\n"
                 "SystemCallFilter=sched_setaffinity\n";
    if (rights.asks_name_servers)
        lines += "# A link watch has a host name: name servers are asked.\n"
                 "RestrictAddressFamilies=AF_INET AF_INET6\n"
                 "IPAddressDeny=\n";
    if (rights.uses_tipc)
        lines += "# The link watch \"tipc\".\n"
                 "RestrictAddressFamilies=AF_TIPC\n";
    return lines.empty()
               ? lines
               : "# By teamd-offload-generator, from the configuration of the team.\n[Service]\n" + lines;
}

namespace {

bool has_bound_workers(const std::filesystem::path& journal) {
    const auto text = read_file(journal, longest_journal);
    if (!text) return false; // the team does not run
    const auto read = parse_journal(*text);
    return read && !read->workers.empty();
}

Result<UnitRights> read_rights(const std::filesystem::path& file, const std::string& team) {
    const auto read = read_configuration(TEAMO_TRY(read_file(file)), team, false, DatapathChoice::automatic);
    if (read.configuration) return rights_of(read.configuration->team);
    const auto* why = read.refusal();
    return fail(EINVAL, why != nullptr ? text_of(*why, file.native())
                                       : fmt::format("{}: is no configuration", file.native()));
}

UnitRights rights_of_team(const std::filesystem::path& file, const std::filesystem::path& journals,
                          std::vector<Error>& errors) {
    const auto team = file.stem().native();
    auto read = read_rights(file, team);
    if (!read) {
        errors.push_back(std::move(read.error()));
        errors.back().text += "; its unit gets no additional rights until the next daemon-reload";
    }
    auto rights = read.value_or(UnitRights{});
    rights.binds_processes |= has_bound_workers(journals / (team + ".json"));
    return rights;
}

Result<> write_drop_in(const std::filesystem::path& folder, const UnitRights& rights) {
    const auto text = drop_in(rights);
    if (text.empty()) return {};
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) return fail_errno(failed.value(), folder.native());
    return replace_file(folder / "rights.conf", text, 0644);
}

} // namespace

std::vector<Error> generate_drop_ins(const std::filesystem::path& configurations,
                                     const std::filesystem::path& journals,
                                     const std::filesystem::path& units) {
    std::vector<Error> errors;
    std::error_code none; // no folder: no team
    UnitRights all;       // of the unit that runs all of them
    const auto write = [&](const std::string& unit, const UnitRights& rights) {
        if (auto written = write_drop_in(units / (unit + ".d"), rights); !written)
            errors.push_back(std::move(written.error()));
    };
    for (const auto& entry : std::filesystem::directory_iterator(configurations, none)) {
        if (entry.path().extension() != ".conf") continue;
        const auto rights = rights_of_team(entry.path(), journals, errors);
        all.binds_processes |= rights.binds_processes;
        all.asks_name_servers |= rights.asks_name_servers;
        all.uses_tipc |= rights.uses_tipc;
        write("teamd-offload@" + entry.path().stem().native() + ".service", rights);
    }
    write("teamd-offload.service", all);
    return errors;
}

} // namespace teamo
