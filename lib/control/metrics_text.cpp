// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/metrics_text.h"

#include "base/take_until.h"
#include "json/fields.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace teamo::control {
namespace {

using json::Value;

/// How a value of the state becomes a number in the base unit that Prometheus recommends.
enum class From { number, megabits, milliseconds, parts_per_million, text, no_text, list };

struct Family {
    std::string_view name, type, help;
    std::string_view section; ///< the object with a member for each port; empty: the team
    std::string_view path;    ///< below it; "*" is every member or element, whose values are added
    From from = From::number;
};

constexpr auto families = std::to_array<Family>({
    {"team_carrier", "gauge", "Whether the team device has a carrier", "", "team_device.link.up"},
    {"team_speed_bytes", "gauge", "Speed of the team, in bytes per second", "", "team_device.link.speed",
     From::megabits},
    {"team_steered", "gauge", "Whether the daemon's program is on the bond to which it is attached", "",
     "attached.steered"},
    {"port_link_up", "gauge", "Whether the port has a link", "ports", "link.up"},
    {"port_watches_up", "gauge", "Whether the link watches of the port report up", "ports",
     "link_watches.up"},
    {"port_down_total", "counter", "Times that a link watch of the port went down", "ports",
     "link_watches.list.*.down_count"},
    {"port_speed_bytes", "gauge", "Speed of the port, in bytes per second", "ports", "link.speed",
     From::megabits},
    {"port_transmits", "gauge", "Whether the port transmits for the team", "ports", "datapath.transmits"},
    {"port_receives", "gauge", "Whether the port receives for the team", "ports", "datapath.receives"},
    {"port_buckets", "gauge", "Hash buckets that leave by the port", "ports", "datapath.buckets"},
    {"port_transmit_packets_total", "counter",
     "Packets sent by the port; a GSO packet counts once, unless a card counts", "ports",
     "datapath.counters.tx_packets"},
    {"port_transmit_bytes_total", "counter", "Bytes sent by the port", "ports", "datapath.counters.tx_bytes"},
    {"port_receive_packets_total", "counter",
     "Packets received by the port; a GRO packet counts once, unless a card counts", "ports",
     "datapath.counters.rx_packets"},
    {"port_receive_bytes_total", "counter", "Bytes received by the port", "ports",
     "datapath.counters.rx_bytes"},
    {"port_receive_dropped_total", "counter", "Received packets that were dropped", "ports",
     "datapath.counters.rx_dropped"},
    {"port_drained", "gauge", "Whether the port is drained, or is about to be", "ports", "drain.wanted"},
    {"port_retransmitted_ratio", "gauge", "TCP segments of the port that were sent again", "ports",
     "loss.retransmitted_ppm", From::parts_per_million},
    {"port_loses_packets", "gauge", "Whether the port loses packets although its link is up", "ports",
     "loss.finding", From::text},
    {"port_damped", "gauge", "Whether the port is used only while no other can, because of its lost links",
     "ports", "damping.suppressed"},
    {"port_damping_penalty", "gauge", "Penalty of the port for its lost links", "ports", "damping.penalty"},
    {"port_lacp_selected", "gauge", "Whether LACP has selected the port", "ports", "runner.selected"},
    {"port_lacpdus_received_total", "counter", "LACPDUs received", "ports", "runner.detail.lacpdus_received"},
    {"port_lacpdus_sent_total", "counter", "LACPDUs sent", "ports", "runner.detail.lacpdus_sent"},
    {"port_lacpdus_illegal_total", "counter", "Frames of the slow protocols that were not valid", "ports",
     "runner.detail.illegal_received"},
    {"port_lacpdu_received_seconds", "gauge", "Time since the last LACPDU", "ports",
     "runner.detail.milliseconds_since_received", From::milliseconds},
    {"port_offload_repairs_total", "counter", "Times that the daemon set an offload of the port again",
     "offload.ports", "repaired"},
    {"port_offloads_lacking", "gauge", "Required offloads that the port does not have", "offload.ports",
     "lacking", From::list},
    {"port_interrupt_repairs_total", "counter", "Times that the daemon placed an interrupt of the port again",
     "interrupts.ports", "repaired"},
    {"port_interrupts_contested", "gauge", "Whether another program moves the port's interrupts each time",
     "interrupts.ports", "contested"},
    {"port_planned_bytes", "gauge", "Load that the balancer planned for the port, in bytes per second",
     "balance.ports", "planned_bytes_per_second"},
    {"bucket_moves_total", "counter", "Hash buckets that were moved to another port because of their load",
     "", "balance.moved"},
    {"workers", "gauge", "Processes that are workers", "", "workers.workers", From::list},
    {"programs_missing", "gauge", "BPF programs of the team that are not where they belong", "",
     "programs.*.by", From::no_text},
    {"programs_lost_total", "counter",
     "Times that another program removed or displaced a BPF program of the team", "", "programs.*.lost"},
    {"programs_before", "gauge", "Programs of others that may keep frames from the team's BPF programs", "",
     "programs.*.before", From::list},
    {"guard_dropped_total", "counter", "Frames that the guard dropped", "", "guard.dropped.*"},
    {"guard_aside", "gauge", "Whether the guard drops nothing although it is on", "", "guard.aside",
     From::text},
});

std::optional<double> number_of(const Value& value, From from) {
    if (const auto* text = value.string(); text != nullptr && from == From::text)
        return text->empty() ? 0 : 1;
    if (const auto* text = value.string(); text != nullptr && from == From::no_text)
        return text->empty() ? 1 : 0;
    if (const auto* list = value.array(); list != nullptr && from == From::list)
        return static_cast<double>(list->size());
    if (const auto* flag = value.boolean()) return *flag ? 1 : 0;
    const auto* integer = value.integer();
    if (integer == nullptr || *integer < 0) return std::nullopt; // -1: not known
    const auto number = static_cast<double>(*integer);
    switch (from) {
    case From::megabits: return number * 125'000;
    case From::milliseconds: return number / 1e3;
    case From::parts_per_million: return number / 1e6;
    default: return number;
    }
}

std::optional<double> find(const Value& in, std::string_view path, From from) {
    if (path.empty()) return number_of(in, from);
    const auto name = take_until(path, ".");
    if (name != "*") return find(json::child(in, name), path, from);
    std::optional<double> sum;
    const auto add = [&](const Value& value) {
        if (const auto one = find(value, path, from)) sum = sum.value_or(0) + *one;
    };
    if (in.object() != nullptr)
        for (const auto& member : *in.object())
            add(member.value);
    if (in.array() != nullptr)
        for (const auto& element : *in.array())
            add(element);
    return sum;
}

const Value& below(const Value& state, std::string_view path) {
    const auto* value = &state;
    while (!path.empty())
        value = &json::child(*value, take_until(path, "."));
    return *value;
}

std::string escaped_label(std::string_view value) {
    std::string text;
    for (const char letter : value) {
        if (letter == '"' || letter == '\\') text += '\\';
        text += letter == '\n' ? ' ' : letter;
    }
    return text;
}

using Labels = std::vector<std::pair<std::string_view, std::string>>;

std::string sample(std::string_view name, const Labels& labels, double value) {
    std::string list;
    for (const auto& [key, text] : labels)
        list += fmt::format("{}{}=\"{}\"", list.empty() ? "" : ",", key, escaped_label(text));
    return fmt::format("teamd_offload_{}{{{}}} {}\n", name, list, value);
}

std::string samples_of(const Family& family, const Value& state, const std::string& team) {
    if (family.section.empty()) {
        const auto value = find(state, family.path, family.from);
        return value ? sample(family.name, {{"team", team}}, *value) : "";
    }
    std::string text;
    if (const auto* ports = below(state, family.section).object())
        for (const auto& port : *ports)
            if (const auto value = find(port.value, family.path, family.from))
                text += sample(family.name, {{"team", team}, {"port", port.key}}, *value);
    return text;
}

std::string info_of(const Value& state, const std::string& team) {
    return sample("team_info",
                  {{"team", team},
                   {"runner", json::string_of(below(state, "setup.runner_name"))},
                   {"datapath", json::string_of(below(state, "datapath.name"))},
                   {"version", json::string_of(below(state, "setup.version"))}},
                  1);
}

/// A port whose switch is not known has empty labels: without a sample a join would leave it out.
std::string ports_of(const Value& state, const std::string& team) {
    std::string text;
    for (const auto& port : json::object(state, "ports")) {
        const auto& domain = json::child(port.value, "failure_domain");
        const auto& at = json::child(domain, "switch");
        const auto name = json::text(at, "name");
        text += sample("port_info",
                       {{"team", team},
                        {"port", port.key},
                        {"switch", name.empty() ? json::text(at, "id") : name},
                        {"switch_port", json::text(at, "port")},
                        {"card", json::text(domain, "card")}},
                       1);
    }
    return text;
}

std::string active_of(const Value& state, const std::string& team) {
    const auto active = json::string_of(below(state, "runner.active_port"));
    return active.empty() ? "" : sample("port_active", {{"team", team}, {"port", active}}, 1);
}

} // namespace

std::string metrics_text(std::span<const Value> states, std::span<const RefusedTeam> refused) {
    std::string text;
    const auto add_samples = [&text](const Family& family, const std::string& all) {
        if (!all.empty())
            text += fmt::format("# HELP teamd_offload_{0} {1}.\n# TYPE teamd_offload_{0} {2}\n{3}",
                                family.name, family.help, family.type, all);
    };
    const auto add = [&](const Family& family, auto samples) {
        std::string all;
        for (const auto& state : states)
            all += samples(state, json::string_of(below(state, "team_device.ifinfo.ifname")));
        add_samples(family, all);
    };
    std::string not_started;
    for (const auto& one : refused)
        not_started += sample("team_refused", {{"team", one.team}}, 1);
    add_samples({"team_refused", "gauge", "A team that the process for all teams could not start", "", ""},
                not_started);
    add({"team_info", "gauge", "A team, its runner, its datapath and the version of its daemon", "", ""},
        info_of);
    add({"port_info", "gauge", "A port, where its cable ends (LLDP, else the partner of LACP), and its card",
         "", ""},
        ports_of);
    add({"port_active", "gauge", "The active port of a team with activebackup", "", ""}, active_of);
    for (const auto& family : families)
        add(family, [&family](const Value& state, const std::string& team) {
            return samples_of(family, state, team);
        });
    return text;
}

} // namespace teamo::control
