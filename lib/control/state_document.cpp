// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/state_document.h"

#include "base/match.h"
#include "control/subsystem_documents.h"
#include "model/tables.h"
#include "json/document.h"

#include <fmt/format.h>

namespace teamo::control {
namespace {

using json::Object;
using json::Value;

constexpr auto datapath_key = "datapath", setup_key = "setup", runner_name_key = "runner_name",
               version_key = "version";

// As teamd, which shows the values of the kernel's team driver (team_core.c, __team_port_change_send):
// without a link 0 and "half"; with a link ethtool's values, -1 for an unknown speed, and "full" for any
// duplex but half.
const char* duplex_of(const LinkStatus& link) {
    return link.up && link.duplex != Duplex::half ? "full" : "half";
}
Value write_speed(const LinkStatus& link) {
    if (!link.up) return 0;
    return link.speed ? Value(*link.speed) : Value(-1);
}
void read_speed(const Value& in, LinkStatus& link) {
    std::uint32_t speed = 0;
    json::from_json(in, speed);
    if (speed != 0) link.speed = speed;
}

constexpr auto link_fields = [](auto field, auto& link) {
    field.write_only("duplex", duplex_of(link));
    field.as("speed", link, write_speed, read_speed);
    field("up", link.up);
};

constexpr auto ifinfo_fields = [](auto field, auto& device) {
    field.text("dev_addr", device.address, parse_mac_address);
    field.write_only("dev_addr_len", static_cast<int>(device.address.bytes.size()));
    field("ifindex", device.ifindex.value);
    field("ifname", device.name);
};

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
                          [](const LossWatch&) { return Object{{"name", "loss"}}; }, // not among port.watches
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
    return list;
}

constexpr auto link_watches_fields = [](auto field, auto& port) {
    if (!port.watches.empty()) field.write_only("list", link_watches_of(port));
    field("up", port.link_up);
};

constexpr auto counter_fields = [](auto field, auto& counters) {
    field("rx_bytes", counters.rx_bytes);
    field("rx_dropped", counters.rx_dropped);
    field("rx_left", counters.rx_left);
    field("rx_packets", counters.rx_packets);
    field("tx_bytes", counters.tx_bytes);
    field("tx_packets", counters.tx_packets);
    field("tx_steered_bytes", counters.tx_steered_bytes);
};

constexpr auto port_datapath_fields = [](auto field, auto& port) {
    field("buckets", port.buckets);
    field.object("counters", port.counters, counter_fields);
    field("receives", port.receives);
    field("transmits", port.transmits);
};

Value lacpdu_of(const lacp::PortInfo& info) {
    return Object{{"key", info.key},
                  {"port", info.port.number},
                  {"port_priority", info.port.priority},
                  {"state", info.state},
                  {"system", teamo::text_of(info.system.address)},
                  {"system_priority", info.system.priority}};
}

/// teamd's keys, and under "detail" what it does not have.
Value lacp_port_of(const lacp::PortStatus& port) {
    const auto since = [](std::optional<std::chrono::milliseconds> time) {
        return time ? Value(time->count()) : Value(-1);
    };
    const auto& counters = port.counters;
    Object detail{{"actor_churn", teamo::name_of(port.actor_churn)},
                  {"excess_received", json::counted(counters.excess_received)},
                  {"illegal_received", json::counted(counters.illegal_received)},
                  {"lacpdus_received", json::counted(counters.lacpdus_received)},
                  {"lacpdus_sent", json::counted(counters.lacpdus_sent)},
                  {"looped_received", json::counted(counters.looped_received)},
                  {"marker_responses_sent", json::counted(counters.marker_responses_sent)},
                  {"markers_received", json::counted(counters.markers_received)},
                  {"milliseconds_since_received", since(port.since_received)},
                  {"milliseconds_since_sent", since(port.since_sent)},
                  {"mux_state", port.mux},
                  {"not_used_because", port.reason},
                  {"partner_churn", teamo::name_of(port.partner_churn)},
                  {"periodic_state", port.periodic},
                  {"receive_state", port.receive},
                  {"unknown_received", json::counted(counters.unknown_received)}};
    return Object{{"actor_lacpdu_info", lacpdu_of(port.actor)},
                  {"aggregator", Object{{"id", port.aggregator}, {"selected", port.selected}}},
                  {"detail", std::move(detail)},
                  {"key", port.actor.key},
                  {"partner_lacpdu_info", lacpdu_of(port.partner)},
                  {"prio", port.actor.port.priority},
                  {"selected", port.selected},
                  {"state", port.state}};
}

lacp::PortStatus read_lacp_port(const Value& document) {
    lacp::PortStatus port;
    port.state = json::text(document, "state");
    port.fallback = port.state == "fallback";
    return port;
}

/// Not among the link watches: libteamdctl refuses names that it does not know.
constexpr auto loss_fields = [](auto field, auto& loss) {
    field("finding", loss.what);
    field.write_only("next_try_milliseconds", loss.next_try ? Value(loss.next_try->count()) : Value(-1));
    field.write_only("retransmitted_ppm", loss.lost ? json::rounded(1000 * *loss.lost) : Value(-1));
    field("taken_out", loss.is_out);
    field("watched", loss.watched);
};

constexpr auto damping_fields = [](auto field, auto& damping) {
    field("penalty", damping.penalty);
    field.write_only("reuse_milliseconds",
                     damping.until_reuse ? Value(damping.until_reuse->count()) : Value(-1));
    field("suppressed", damping.suppressed);
};

constexpr auto drain_fields = [](auto field, auto& drain) {
    field("by_hand", drain.by_hand);
    field("forced", drain.forced);
    field.name("phase", drain.phase);
    field("received_per_second", drain.received);
    field.write_only("waits_because", teamo::text_of(drain));
    field.write_only("wanted", drain.phase != DrainPhase::none);
};

constexpr auto switch_fields = [](auto field, auto& at) {
    field("id", at.id);
    field("name", at.name);
    field("port", at.port);
    field.name("source", at.source);
};

constexpr auto domain_fields = [](auto field, auto& domain) {
    field("card", domain.card);
    field("numa_node", domain.node);
    field("root_port", domain.root_port);
    field.object("switch", domain.at, switch_fields);
};

constexpr auto port_fields = [](auto field, auto& port) {
    field.object("damping", port.damping, damping_fields);
    field.object("datapath", port, port_datapath_fields);
    field.object("drain", port.drain, drain_fields);
    field.object("failure_domain", port.domain, domain_fields);
    field.object("ifinfo", port, ifinfo_fields);
    field.object("link", port.link, link_fields);
    field.object("link_watches", port, link_watches_fields);
    field.object("loss", port.loss, loss_fields);
    field.document("runner", port.lacp, lacp_port_of, read_lacp_port);
    field("weight", port.weight);
};

Value setup_of(const TeamStatus& status) {
    const bool hashes = mode_of(status.runner) == TransmitMode::hash;
    Value setup(Object{{"daemonized", status.daemonized},
                       {"dbus_enabled", status.dbus_enabled},
                       {"debug_level", status.debug_level},
                       {"kernel_team_mode_name", hashes ? "loadbalance" : name_of(status.runner)},
                       {"pid", status.pid},
                       {"pid_file", status.pid_file},
                       {runner_name_key, name_of(status.runner)},
                       {version_key, status.version},
                       {"zmq_enabled", false}});
    if (!status.config_file.empty()) setup.set("config_file", status.config_file);
    return setup;
}

/// None for the runners that have no "runner" key in teamd's document.
std::optional<Value> runner_of(const TeamStatus& status) {
    if (std::holds_alternative<ActiveBackupRunner>(status.runner))
        return Object{{"active_port", status.active_port.value_or("")}};
    if (const auto* lacp = std::get_if<LacpRunner>(&status.runner))
        return Object{{"active", lacp->active},
                      {"fast_rate", lacp->fast_rate},
                      {"select_policy", name_of(lacp->agg_select_policy)},
                      {"sys_prio", lacp->sys_prio}};
    return std::nullopt;
}

constexpr auto refused_fields = [](auto field, auto& refused) {
    field("what", refused.what);
    field("where", refused.where);
};

constexpr auto foreign_program_fields = [](auto field, auto& program) {
    field("id", program.id);
    field("kind", program.kind);
    field("name", program.name);
    field("priority", program.priority);
    field("takes", program.takes);
};

constexpr auto program_fields = [](auto field, auto& program) {
    if (!field.omits(program.before)) field.list("before", program.before, foreign_program_fields);
    field("by", program.by);
    if (!field.omits(program.before)) field("catches_accepted", program.catches_accepted);
    field("device", program.device);
    field("failure", program.failure);
    field("hook", program.hook);
    field("id", program.id);
    field("left_behind", program.is_left);
    field("lost", program.lost);
    field("name", program.name);
    field("redirects", program.redirects);
};

constexpr auto guard_drop_fields = [](auto field, auto& dropped) {
    field("arp_request", dropped.arp_requests);
    field("broadcast", dropped.broadcasts);
    field("multicast", dropped.multicasts);
    field("neighbour_solicitation", dropped.neighbour_solicitations);
    field("sender", dropped.of_a_sender);
    field("unicast", dropped.unicast);
};

constexpr auto guard_fields = [](auto field, auto& guard) {
    field("aside", guard.aside);
    field.object("dropped", guard.dropped, guard_drop_fields);
    field.name("mode", guard.mode);
    field("passed", guard.passed);
};

// The functions below have a TeamStatus or a TeamState.

constexpr auto team_datapath_fields = [](auto field, auto& team) {
    Object buckets;
    for (const auto& port : team.ports)
        buckets.push_back({port.name, port.buckets});
    field.write_only("buckets", std::move(buckets));
    if (!field.omits(team.bond_mode)) field("bond_mode", team.bond_mode);
    field("counts_by_program", team.counts_by_program);
    field("device_kind", team.device_kind);
    field("kernel_hashes", team.kernel_hashes);
    field("min_ports", team.min_ports);
    field("name", team.datapath);
    field("sees_links", team.link_sight.sees);
    if (!field.omits(team.link_sight.reason)) field("sees_links_reason", team.link_sight.reason);
};

constexpr auto team_device_fields = [](auto field, auto& team) {
    field.object("ifinfo", team, ifinfo_fields);
    field.object("link", team.link, link_fields);
};

constexpr auto attached_fields = [](auto field, auto& attached) {
    if (!field.omits(attached.detail)) field("detail", attached.detail);
    field("mode", attached.mode);
    field("own_xmit_hash_policy", attached.own_policy);
    if (!field.omits(text_of(attached))) field.write_only("reason", text_of(attached));
    field.write_only("steered", attached.unsteered == Unsteered::nothing);
    field.name("unsteered_by", attached.unsteered);
    field("xmit_hash_policy", attached.policy);
};

/// "setup" and "runner" are of a TeamStatus only.
constexpr auto team_fields = [](auto field, auto& team) {
    field.object(datapath_key, team, team_datapath_fields);
    field.object("team_device", team, team_device_fields);
    if (!field.omits(team.ports)) field.by_name("ports", team.ports, port_fields);
    field.document("offload", team.offload, offload_document, read_offloads);
    field.document("interrupts", team.interrupts, interrupt_document, read_interrupts);
    field.document("workers", team.workers, workers_document, read_workers);
    field.object("guard", team.guard, guard_fields);
    field.object("attached", team.attached, attached_fields);
    field.object("shared_by_all", team.common, domain_fields);
    field.document("balance", team.balance, balance_document, read_balance);
    if (!field.omits(team.refused)) field.list("refused", team.refused, refused_fields);
    if (!field.omits(team.programs)) field.list("programs", team.programs, program_fields);
};

/// The position of the closing quote of a name that starts at 0: the first quote before a dot or the end, so
/// that a quote within a device's name needs no escape.
std::size_t closing_quote(std::string_view rest) {
    auto quote = rest.find('"', 1);
    while (quote != std::string_view::npos && quote + 1 < rest.size() && rest[quote + 1] != '.')
        quote = rest.find('"', quote + 1);
    return quote;
}

} // namespace

json::Value state_document(const TeamStatus& status) {
    auto document = json::write_fields(status, team_fields);
    document.set(setup_key, setup_of(status));
    if (auto runner = runner_of(status)) document.set("runner", std::move(*runner));
    return document;
}

Result<TeamState> read_state(json::Value document) {
    if (json::child(document, datapath_key).object() == nullptr)
        return fail(ENOTSUP,
                    "this command needs teamd-offload, but the daemon of this team is another program");
    auto state = json::read_fields<TeamState>(document, team_fields);
    const auto& setup = json::child(document, setup_key);
    state.runner = json::text(setup, runner_name_key);
    state.version = json::text(setup, version_key);
    if (state.attached) state.runner = runner_like(state.attached->mode, state.runner);
    if (state.offload) state.offload->team.name = state.name;
    state.document = std::move(document);
    return state;
}

std::optional<std::vector<std::string>> split_item_path(std::string_view path) {
    std::vector<std::string> names;
    for (auto rest = path;;) {
        const bool quoted = rest.starts_with('"');
        const auto end = quoted ? closing_quote(rest) : rest.find('.');
        if (quoted && end == std::string_view::npos) return std::nullopt;
        const auto name = quoted ? rest.substr(1, end - 1) : rest.substr(0, end);
        if (name.empty()) return std::nullopt;
        names.emplace_back(name);
        const auto taken = name.size() + (quoted ? 2 : 0);
        if (taken == rest.size()) return names;
        rest.remove_prefix(taken + 1); // and the dot; a dot at the end leaves an empty name
    }
}

std::optional<std::string> state_item(const json::Value& document, std::span<const std::string> names) {
    const auto* item = &document;
    for (const auto& name : names)
        if (item = item->find(name); !item) return std::nullopt;
    return std::visit(
        Match{
            [](bool value) -> std::optional<std::string> { return value ? "true" : "false"; },
            [](std::int64_t value) -> std::optional<std::string> { return std::to_string(value); },
            [](const std::string& value) -> std::optional<std::string> { return value; },
            [](const auto&) -> std::optional<std::string> { return std::nullopt; },
        },
        item->data());
}

} // namespace teamo::control
