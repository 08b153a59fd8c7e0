// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/generator/unit_rights.h"

#include "base/ip_address.h"

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

} // namespace teamo
