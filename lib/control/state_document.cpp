// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/state_document.h"

#include "base/match.h"
#include "control/balance_document.h"
#include "control/interrupt_document.h"
#include "control/offload_document.h"
#include "control/worker_document.h"

#include <fmt/format.h>

namespace teamo::control {
namespace {

using json::Object;
using json::Value;

/// As teamd, which shows the values of the kernel's team driver (team_core.c, __team_port_change_send):
/// without a link 0 and "half"; with a link ethtool's values, -1 for an unknown speed, and "full" for any
/// duplex but half.
Value link_of(const LinkStatus& link) {
    if (!link.up) return Object{{"duplex", "half"}, {"speed", 0}, {"up", false}};
    return Object{{"duplex", link.duplex == Duplex::half ? "half" : "full"},
                  {"speed", link.speed ? Value(*link.speed) : Value(-1)},
                  {"up", true}};
}

Value ifinfo_of(const std::string& name, IfIndex ifindex, const MacAddress& address) {
    return Object{{"dev_addr", text_of(address)},
                  {"dev_addr_len", static_cast<int>(address.bytes.size())},
                  {"ifindex", ifindex.value},
                  {"ifname", name}};
}

/// The keys of this type of link watch, including "name".
Object own_keys(const WatchStatus& status) {
    return std::visit(Match{
                          [](const EthtoolWatch& watch) {
                              return Object{{"delay_down", watch.delay_down.count()},
                                            {"delay_up", watch.delay_up.count()},
                                            {"name", "ethtool"}};
                          },
                          [&](const ArpPingWatch& watch) {
                              return Object{{"init_wait", watch.init_wait.count()},
                                            {"interval", watch.interval.count()},
                                            {"missed", status.missed},
                                            {"missed_max", watch.missed_max},
                                            {"name", "arp_ping"},
                                            {"send_always", watch.send_always},
                                            {"source_host", watch.source_host},
                                            {"target_host", watch.target_host},
                                            {"validate_active", watch.validate_active},
                                            {"validate_inactive", watch.validate_inactive}};
                          },
                          [&](const NsnaPingWatch& watch) {
                              return Object{{"init_wait", watch.init_wait.count()},
                                            {"interval", watch.interval.count()},
                                            {"missed", status.missed},
                                            {"missed_max", watch.missed_max},
                                            {"name", "nsna_ping"},
                                            {"target_host", watch.target_host}};
                          },
                          [](const TipcWatch& watch) {
                              return Object{{"name", "tipc"}, {"tipc_bearer", watch.tipc_bearer}};
                          },
                      },
                      status.watch);
}

Value link_watches_of(const PortStatus& port) {
    Object list;
    for (const auto& status : port.watches) {
        auto watch = own_keys(status);
        watch.push_back({"down_count", status.down_count});
        watch.push_back({"up", status.up});
        list.push_back({fmt::format("link_watch_{}", list.size()), std::move(watch)});
    }
    if (list.empty()) return Object{{"up", port.link_up}};
    return Object{{"list", std::move(list)}, {"up", port.link_up}};
}

Value datapath_of(const PortStatus& port) {
    const auto& counters = port.counters;
    return Object{{"buckets", port.buckets},
                  {"counters", Object{{"rx_bytes", json::counted(counters.rx_bytes)},
                                      {"rx_dropped", json::counted(counters.rx_dropped)},
                                      {"rx_packets", json::counted(counters.rx_packets)},
                                      {"tx_bytes", json::counted(counters.tx_bytes)},
                                      {"tx_packets", json::counted(counters.tx_packets)}}},
                  {"receives", port.receives},
                  {"transmits", port.transmits}};
}

Value port_of(const PortStatus& port) {
    return Object{{"datapath", datapath_of(port)},
                  {"ifinfo", ifinfo_of(port.name, port.ifindex, port.address)},
                  {"link", link_of(port.link)},
                  {"link_watches", link_watches_of(port)}};
}

Value datapath_of(const TeamStatus& status) {
    Object buckets;
    for (const auto& port : status.ports)
        buckets.push_back({port.name, port.buckets});
    return Object{
        {"buckets", std::move(buckets)}, {"device_kind", status.device_kind}, {"name", status.datapath}};
}

Value setup_of(const TeamStatus& status) {
    const bool is_lacp = std::holds_alternative<LacpRunner>(status.runner);
    return Object{{"daemonized", status.daemonized},
                  {"dbus_enabled", false},
                  {"debug_level", status.debug_level},
                  {"kernel_team_mode_name", is_lacp ? "loadbalance" : name_of(status.runner)},
                  {"pid", status.pid},
                  {"pid_file", status.pid_file},
                  {"runner_name", name_of(status.runner)},
                  {"zmq_enabled", false}};
}

const char* name_of(AggSelectPolicy policy) {
    switch (policy) {
    case AggSelectPolicy::lacp_prio: return "lacp_prio";
    case AggSelectPolicy::lacp_prio_stable: return "lacp_prio_stable";
    case AggSelectPolicy::bandwidth: return "bandwidth";
    case AggSelectPolicy::count: return "count";
    case AggSelectPolicy::port_config: return "port_config";
    }
    return "?";
}

Value benchmarks_of(const std::map<std::string, BenchmarkResult>& benchmarks) {
    Object steps;
    for (const auto& [step, result] : benchmarks)
        steps.push_back({step, Object{{"effect", name_of(result.effect)},
                                      {"bytes_with", json::counted(result.bytes_with)},
                                      {"bytes_without", json::counted(result.bytes_without)},
                                      {"cpu_ns_per_kib_with", json::counted(result.cpu_with)},
                                      {"cpu_ns_per_kib_without", json::counted(result.cpu_without)}}});
    return steps;
}

/// None for the runners that have no "runner" key in teamd's document.
std::optional<Value> runner_of(const TeamStatus& status) {
    return std::visit(Match{
                          [&](const ActiveBackupRunner&) -> std::optional<Value> {
                              return Object{{"active_port", status.active_port.value_or("")}};
                          },
                          [](const LacpRunner& lacp) -> std::optional<Value> {
                              return Object{{"active", lacp.active},
                                            {"fast_rate", lacp.fast_rate},
                                            {"select_policy", name_of(lacp.agg_select_policy)},
                                            {"sys_prio", lacp.sys_prio}};
                          },
                          [](const auto&) -> std::optional<Value> { return std::nullopt; },
                      },
                      status.runner);
}

} // namespace

json::Value state_document(const TeamStatus& status) {
    Value document = Object{
        {"datapath", datapath_of(status)},
        {"setup", setup_of(status)},
        {"team_device", Object{{"ifinfo", ifinfo_of(status.name, status.ifindex, status.address)},
                               {"link", link_of(status.link)}}},
    };
    if (!status.ports.empty()) {
        Object ports;
        for (const auto& port : status.ports)
            ports.push_back({port.name, port_of(port)});
        document.set("ports", std::move(ports));
    }
    if (status.offload) document.set("offload", offload_document(*status.offload));
    if (status.interrupts) document.set("interrupts", interrupt_document(*status.interrupts));
    if (status.workers) document.set("workers", worker_document(*status.workers));
    if (status.balance) document.set("balance", balance_document(*status.balance));
    if (!status.benchmarks.empty()) document.set("benchmarks", benchmarks_of(status.benchmarks));
    if (!status.refused.empty()) {
        json::Array list;
        for (const auto& refused : status.refused)
            list.emplace_back(Object{{"what", refused.what}, {"where", refused.where}});
        document.set("refused", std::move(list));
    }
    if (auto runner = runner_of(status)) document.set("runner", std::move(*runner));
    return document;
}

} // namespace teamo::control
