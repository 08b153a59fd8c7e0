// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/removal_impact.h"

#include "control/subsystem_documents.h"
#include "text/numbers.h"
#include "json/quote.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

namespace teamo::ctl {
namespace {

using json::Object;
using json::rounded;
using json::Value;

constexpr std::size_t max_flows_shown = 20;

/// "the other 3 ports carry 3000 Mbit/s, the team sends 412 Mbit/s".
std::string comparison(const RemovalImpact& impact) {
    const auto& [ports, bytes, unknown] = impact.capacity;
    const auto others =
        ports == 1 ? "the other port carries" : fmt::format("the other {} ports carry", ports);
    const auto but = unknown.empty() ? "" : fmt::format(" (the speed of {} is not known)", joined(unknown));
    return fmt::format("{} {}{}, the team sends {}", others, megabits(bytes), but,
                       megabits(impact.team_load));
}

std::optional<std::string> refusal_of(const RemovalImpact& impact) {
    if (impact.capacity.ports == 0)
        return impact.transmits ? "it is the last port that carries" : "no other port carries";
    if (impact.team_load <= impact.capacity.bytes) return std::nullopt;
    return comparison(impact) + (impact.capacity.unknown.empty() ? ": too much" : ": it may be too much");
}

std::string buckets_line(const RemovalImpact& impact) {
    if (impact.buckets == 0)
        return impact.transmits ? fmt::format("  load: {} leave by it\n", megabits(impact.port_load))
                                : "  load: nothing leaves by it now\n";
    const auto load = impact.bucket_load ? fmt::format(" with {}", megabits(*impact.bucket_load)) : "";
    const auto next = impact.remaining_ports.empty() ? "no other port takes them"
                                                     : "they move to " + joined(impact.remaining_ports);
    return fmt::format("  buckets: {} of {} leave by it{}; {}\n", impact.buckets, bucket_count, load, next);
}

std::string end_of(const IpAddress& address, std::uint16_t port) {
    return address.ipv6 ? fmt::format("[{}]:{}", text_of(address), port)
                        : fmt::format("{}:{}", text_of(address), port);
}

std::string flow_line(const Flow& flow) {
    const auto bucket = flow.bucket ? fmt::format("bucket {}, ", *flow.bucket) : "";
    const auto owner = flow.owner ? fmt::format("{} ({})", json::printable(flow.owner->name), flow.owner->pid)
                                  : "no process that can be seen";
    return fmt::format("    {} -> {}: {}{}\n", end_of(flow.socket.local, flow.socket.local_port),
                       end_of(flow.socket.remote, flow.socket.remote_port), bucket, owner);
}

std::span<const Flow> shown(const Flows& flows) {
    return std::span(flows.by_port).first(std::min(flows.by_port.size(), max_flows_shown));
}

std::string flows_text(const Flows& flows) {
    auto text = fmt::format("  connections: {} of {} leave by it", flows.by_port.size(), flows.all);
    if (flows.unknown > 0) text += fmt::format("; not known for {}", flows.unknown);
    text += '\n';
    for (const auto& flow : shown(flows))
        text += flow_line(flow);
    if (flows.by_port.size() > max_flows_shown)
        text += fmt::format("    and {} more\n", flows.by_port.size() - max_flows_shown);
    return text;
}

std::string offloads_text(const OffloadChange& change) {
    std::string text;
    const auto add = [&text](const std::string& line) { text += fmt::format("  offloads: {}\n", line); };
    for (const auto& [offload, lacking] : change.lost)
        add(fmt::format("{} {} no {}", joined(lacking), lacking.size() == 1 ? "has" : "have", offload));
    if (!change.gained.empty())
        add(fmt::format("the others have {}, which it does not have", joined(change.gained)));
    if (change.gso_max_after > change.gso_max && change.gso_max != 0)
        add(fmt::format("packets may have {} bytes instead of {}", change.gso_max_after, change.gso_max));
    if (text.empty()) add("the others have the same");
    return text;
}

Value offloads_json(const OffloadChange& change) {
    json::Object lost;
    for (const auto& [offload, lacking] : change.lost)
        lost.push_back({offload, json::Array(lacking.begin(), lacking.end())});
    return Object{{"gained", json::Array(change.gained.begin(), change.gained.end())},
                  {"gso_max_size", change.gso_max},
                  {"gso_max_size_after", change.gso_max_after},
                  {"lost", std::move(lost)}};
}

/// The card alone, if it is one: it has one root port and one NUMA node.
std::string redundancy_text(const FailureDomain& shared) {
    std::vector<std::string> parts;
    if (shared.at.is_known()) parts.push_back("switch " + shared.at.shown());
    if (!shared.card.empty())
        parts.push_back("card " + shared.card);
    else if (!shared.root_port.empty())
        parts.push_back("PCIe root port " + shared.root_port);
    else if (shared.node >= 0)
        parts.push_back(fmt::format("NUMA node {}", shared.node));
    if (parts.empty()) return {};
    return fmt::format("  redundancy: all others share one {}\n", fmt::join(parts, " and one "));
}

Value shared_json(const FailureDomain& shared) {
    return Object{{"card", shared.card},
                  {"numa_node", shared.node},
                  {"root_port", shared.root_port},
                  {"switch", shared.at.is_known() ? shared.at.shown() : ""}};
}

Value flow_json(const Flow& flow) {
    return Object{{"bucket", flow.bucket ? Value(static_cast<int>(*flow.bucket)) : Value()},
                  {"local", text_of(flow.socket.local)},
                  {"local_port", static_cast<int>(flow.socket.local_port)},
                  {"pid", flow.owner ? Value(flow.owner->pid) : Value()},
                  {"process", flow.owner ? Value(flow.owner->name) : Value()},
                  {"remote", text_of(flow.socket.remote)},
                  {"remote_port", static_cast<int>(flow.socket.remote_port)}};
}

Value flows_json(const Flows& flows) {
    json::Array list;
    for (const auto& flow : shown(flows))
        list.push_back(flow_json(flow));
    return Object{{"of_team", json::counted(flows.all)},
                  {"shown", std::move(list)},
                  {"total", json::counted(flows.by_port.size())},
                  {"unknown", json::counted(flows.unknown)}};
}

void count_workers(const TeamState& state, RemovalImpact& impact) {
    if (!state.workers) return;
    for (const auto& worker : state.workers->workers) {
        if (worker.cpus.empty()) continue;
        impact.workers.push_back(worker);
        const auto& by_port = worker.traffic.by_port;
        const auto most =
            std::ranges::max_element(by_port, {}, [](const auto& entry) { return entry.second; });
        if (most != by_port.end() && most->first == impact.port) ++impact.workers_served;
    }
}

/// Besides all "*-segmentation": offloads that save CPU time for each packet.
constexpr std::array<std::string_view, 10> other_features{
    "tx-scatter-gather", "tx-checksum-ipv4",  "tx-checksum-ipv6",  "tx-checksum-sctp", "rx-checksum",
    "rx-gro-hw",         "tls-hw-tx-offload", "tls-hw-rx-offload", "esp-hw-offload",   "macsec-hw-offload"};

/// Not the variants that the kernel switches together with TSO (net/core/dev.c: netdev_fix_features).
bool is_offload(std::string_view feature) {
    const bool variant = feature == "tx-tcp-ecn-segmentation" || feature == "tx-tcp-mangleid-segmentation";
    return (feature.ends_with("-segmentation") && !variant) ||
           std::ranges::find(other_features, feature) != other_features.end();
}

/// tx-checksum-ip-generic (NETIF_F_HW_CSUM) includes the checksums of IPv4 and of IPv6.
FeatureNames offloads_of(const Features& features) {
    FeatureNames offloads;
    for (const auto name : features.active)
        if (is_offload(name)) offloads.insert(name);
    if (features.active.contains("tx-checksum-ip-generic"))
        offloads.insert({"tx-checksum-ipv4", "tx-checksum-ipv6"});
    return offloads;
}

std::uint32_t smaller(std::uint32_t one, std::uint32_t other) {
    return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

} // namespace

RemovalImpact removal_impact_of(const TeamState& state, const PortStatus& port, const Rates& rates) {
    RemovalImpact impact;
    impact.port = port.name;
    impact.transmits = port.transmits;
    impact.buckets = port.buckets;
    if (state.balance && state.balance->counted) {
        impact.bucket_load = 0;
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
            if (state.balance->leaves_by[bucket] == port.name)
                *impact.bucket_load += state.balance->loads[bucket].bytes;
    }
    if (const auto rate = rates.find(port.name); rate != rates.end()) impact.port_load = rate->second;
    impact.remaining_ports = names_of(carriers_without(state, port.name));
    std::vector<FailureDomain> remaining;
    for (const auto* other : carriers(state))
        if (other->name != port.name) remaining.push_back(other->domain);
    impact.shared = newly_shared(state.common, common_of(remaining));
    count_workers(state, impact);
    impact.capacity = capacity_without(state, port.name);
    impact.team_load = team_load(state, rates);
    impact.refusal = refusal_of(impact);
    return impact;
}

FailureDomain newly_shared(const FailureDomain& before, const FailureDomain& after) {
    auto shared = after;
    if (after.card == before.card) shared.card.clear();
    if (after.root_port == before.root_port) shared.root_port.clear();
    if (after.node == before.node) shared.node = -1;
    if (after.at == before.at) shared.at = {};
    return shared;
}

std::optional<bool> leaves_by(const TeamState& state, const PortStatus& port,
                              const std::optional<std::uint8_t>& bucket) {
    if (!port.transmits) return false;
    // Runners that do not hash send by all ports in turn, or by the active port.
    if (!state.balance) return true;
    if (!bucket) return std::nullopt;
    return state.balance->leaves_by[*bucket] == port.name;
}

OffloadChange offload_change(const std::string& port, const std::vector<std::string>& remaining_ports,
                             const OffloadsByPort& ports) {
    OffloadChange change;
    const auto leaving = ports.find(port);
    if (leaving == ports.end() || leaving->second.features.active.empty()) return change;
    const auto had = offloads_of(leaving->second.features);
    std::map<std::string_view, std::size_t> supporters;
    std::size_t known = 0;
    for (const auto& remaining : remaining_ports) {
        const auto found = ports.find(remaining);
        if (found == ports.end() || found->second.features.active.empty()) continue;
        ++known;
        const auto has = offloads_of(found->second.features);
        for (const auto& offload : had)
            if (!has.contains(offload)) change.lost[std::string(offload)].push_back(remaining);
        for (const auto& offload : has)
            if (!had.contains(offload)) ++supporters[offload];
        change.gso_max_after = smaller(change.gso_max_after, found->second.gso_max);
    }
    for (const auto& [offload, count] : supporters)
        if (count == known) change.gained.emplace_back(offload);
    change.gso_max = smaller(change.gso_max_after, leaving->second.gso_max);
    return change;
}

std::string text_of(const RemovalImpact& impact) {
    auto text = fmt::format("without {} (nothing is changed):\n", impact.port) + buckets_line(impact) +
                flows_text(impact.flows);
    const auto bound = impact.workers.size();
    text += bound == 0
                ? "  workers: none are bound\n"
                : fmt::format("  workers: {} bound, of which {} most by it\n", counted(bound, "is", "are"),
                              counted(impact.workers_served, "receives", "receive"));
    if (impact.capacity.ports == 0) return text + "  capacity: no other port carries\n";
    return text + offloads_text(impact.offloads) + redundancy_text(impact.shared) +
           fmt::format("  capacity: {}: {}\n", comparison(impact),
                       impact.refusal ? "they cannot" : "they can");
}

json::Value json_of(const std::string& team, const RemovalImpact& impact) {
    json::Array workers;
    for (const auto& worker : impact.workers)
        workers.push_back(control::worker_document(worker));
    return Object{
        {"buckets", json::counted(impact.buckets)},
        {"bytes_per_second", rounded(impact.bucket_load.value_or(impact.port_load))},
        {"capacity_bytes_per_second", rounded(impact.capacity.bytes)},
        {"connections", flows_json(impact.flows)},
        {"remaining_ports", json::Array(impact.remaining_ports.begin(), impact.remaining_ports.end())},
        {"offloads", offloads_json(impact.offloads)},
        {"port", impact.port},
        {"newly_shared", shared_json(impact.shared)},
        {"reason", impact.refusal ? Value(*impact.refusal) : Value()},
        {"sufficient", !impact.refusal.has_value()},
        {"team", team},
        {"team_bytes_per_second", rounded(impact.team_load)},
        {"workers", std::move(workers)},
    };
}

} // namespace teamo::ctl
