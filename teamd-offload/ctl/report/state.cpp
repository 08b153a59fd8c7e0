// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/state.h"

#include "json/fields.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

using json::child;
using json::count;
using json::flag;
using json::number;
using json::text;

/// A share that is written in per cent, as an integer or a real.
double fraction(const json::Value& in, std::string_view key) {
    const auto& value = child(in, key);
    if (const auto* real = value.real()) return *real / 100;
    return static_cast<double>(number(in, key)) / 100;
}

double rate(const json::Value& in, std::string_view key) { return static_cast<double>(number(in, key)); }

template <class Enum>
Enum named(const json::Value& in, std::string_view key, std::initializer_list<Enum> all) {
    const auto name = text(in, key);
    const auto* const found = std::ranges::find(all, name, [](Enum each) { return name_of(each); });
    return found == all.end() ? *all.begin() : *found;
}

IfIndex ifindex_of(const json::Value& device) {
    return IfIndex{static_cast<std::uint32_t>(number(child(device, "ifinfo"), "ifindex"))};
}

MacAddress address_of(const json::Value& device) {
    return parse_mac_address(text(child(device, "ifinfo"), "dev_addr")).value_or(MacAddress{});
}

PortStatus port_of(const std::string& name, const json::Value& port) {
    const auto& datapath = child(port, "datapath");
    const auto& counters = child(datapath, "counters");
    const auto& link = child(port, "link");
    PortStatus status;
    status.name = name;
    status.ifindex = ifindex_of(port);
    status.address = address_of(port);
    status.link.up = flag(link, "up");
    if (const auto speed = number(link, "speed"); speed > 0)
        status.link.speed = static_cast<std::uint32_t>(speed);
    status.link_up = flag(child(port, "link_watches"), "up");
    status.transmits = flag(datapath, "transmits");
    status.receives = flag(datapath, "receives");
    status.buckets = static_cast<std::uint32_t>(count(datapath, "buckets"));
    status.counters = {.tx_packets = count(counters, "tx_packets"),
                       .tx_bytes = count(counters, "tx_bytes"),
                       .rx_packets = count(counters, "rx_packets"),
                       .rx_bytes = count(counters, "rx_bytes"),
                       .rx_dropped = count(counters, "rx_dropped")};
    return status;
}

HashFields hash_of(const json::Value& names) {
    using enum HashField;
    constexpr std::array known{std::pair(eth, "eth"),   std::pair(vlan, "vlan"), std::pair(ipv4, "ipv4"),
                               std::pair(ipv6, "ipv6"), std::pair(tcp, "tcp"),   std::pair(udp, "udp"),
                               std::pair(sctp, "sctp"), std::pair(cpu, "cpu")};
    HashFields fields = 0;
    if (const auto* list = names.array())
        for (const auto& name : *list)
            for (const auto& [field, its_name] : known)
                if (name.string() && *name.string() == its_name) fields |= static_cast<HashFields>(field);
    return fields;
}

const json::Value& element(const json::Value& in, std::string_view key, std::size_t index) {
    static const json::Value none;
    const auto* list = child(in, key).array();
    return list && index < list->size() ? (*list)[index] : none;
}

double rate_of(const json::Value& value) {
    return value.integer() ? static_cast<double>(*value.integer()) : 0;
}

void read_buckets(const json::Value& buckets, BalanceStatus& balance) {
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        if (const auto* port = element(buckets, "port", bucket).string()) balance.leaves_by[bucket] = *port;
        if (const auto* list = element(buckets, "next_ports", bucket).array())
            for (const auto& port : *list)
                if (port.string()) balance.then[bucket].push_back(*port.string());
        balance.loads[bucket] = {.bytes = rate_of(element(buckets, "bytes_per_second", bucket)),
                                 .packets = rate_of(element(buckets, "packets_per_second", bucket)),
                                 .bulk = rate_of(element(buckets, "bulk_bytes_per_second", bucket))};
    }
}

CpuList cpus_of(const json::Value& port, std::string_view key) {
    CpuList cpus;
    if (const auto* list = child(port, key).array())
        for (const auto& cpu : *list)
            if (cpu.integer()) cpus.push_back(static_cast<unsigned>(*cpu.integer()));
    return cpus;
}

PortBalance port_balance_of(const std::string& name, const json::Value& port) {
    return {.name = name,
            .bytes = rate(port, "bytes_per_second"),
            .packets = rate(port, "packets_per_second"),
            .bulk = rate(port, "bulk_bytes_per_second"),
            .planned = rate(port, "planned_bytes_per_second"),
            .capacity = rate(port, "capacity_bytes_per_second"),
            .segments = flag(port, "segments"),
            .cpu_load = fraction(port, "cpu_load_percent"),
            .interrupt_cpus = cpus_of(port, "interrupt_cpus"),
            .cpus = cpus_of(port, "cpus")};
}

MoveStatus move_of(const json::Value& move) {
    using enum MoveEnd;
    using enum MoveReason;
    return {.bucket = static_cast<std::uint8_t>(number(move, "bucket")),
            .from = text(move, "from"),
            .to = text(move, "to"),
            .gain = fraction(move, "gain_percent"),
            .reason = named(move, "reason", {load, offload, by_hand, membership}),
            .end = named(move, "end", {pending, in_gap, forced, given_up}),
            .waited = std::chrono::milliseconds(number(move, "waited_ms")),
            .ago = std::chrono::milliseconds(number(move, "ago_ms"))};
}

BalanceStatus balance_of(const json::Value& document) {
    BalanceStatus balance;
    balance.config.on = flag(document, "on");
    balance.config.aware = flag(document, "aware");
    balance.config.interval = std::chrono::milliseconds(number(document, "interval_ms"));
    balance.counted = flag(document, "counted");
    balance.frozen = flag(document, "frozen");
    balance.tx_hash = hash_of(child(document, "tx_hash"));
    read_buckets(child(document, "buckets"), balance);
    if (const auto* ports = child(document, "ports").object())
        for (const auto& port : *ports)
            balance.ports.push_back(port_balance_of(port.key, port.value));
    if (const auto* moves = child(document, "moves").array())
        for (const auto& move : *moves)
            balance.moves.push_back(move_of(move));
    return balance;
}

FeatureNames features_of(const json::Value& device, std::string_view key) {
    FeatureNames names;
    if (const auto* list = child(device, key).array())
        for (const auto& name : *list)
            if (name.string()) names.insert(*name.string());
    return names;
}

DeviceOffloads offloads_of(const std::string& name, const json::Value& device) {
    const auto& limits = child(device, "gso_max");
    const auto limit = [&](std::string_view key) { return static_cast<std::uint32_t>(count(limits, key)); };
    return {.name = name,
            .active = features_of(device, "active"),
            .changeable = features_of(device, "changeable"),
            .shall_be_on = features_of(device, "on"),
            .shall_be_off = features_of(device, "off"),
            .required = features_of(device, "required"),
            .lacking = features_of(device, "lacking"),
            .repaired = static_cast<unsigned>(count(device, "repaired")),
            .gave_up = flag(device, "gave_up"),
            .last = flag(device, "last"),
            .gso_max = {.size = limit("bytes"), .segs = limit("segments"), .ipv4_size = limit("ipv4_bytes")}};
}

OffloadStatus offload_of(const std::string& team, const json::Value& document) {
    using enum Lacking;
    OffloadStatus status{.lacking = named(document, "lacking", {accept, demote, refuse}),
                         .repair = flag(document, "repair"),
                         .team = offloads_of(team, child(document, "team")),
                         .ports = {}};
    if (const auto* ports = child(document, "ports").object())
        for (const auto& port : *ports)
            status.ports.push_back(offloads_of(port.key, port.value));
    return status;
}

} // namespace

Result<TeamState> read_state(json::Value document) {
    const auto& datapath = child(document, "datapath");
    if (!datapath.object())
        return fail(ENOTSUP,
                    "this command needs teamd-offload, but the daemon of this team is another program");
    const auto& device = child(document, "team_device");
    TeamState state;
    state.name = text(child(device, "ifinfo"), "ifname");
    state.runner = text(child(document, "setup"), "runner_name");
    state.datapath = text(datapath, "name");
    state.ifindex = ifindex_of(device);
    state.address = address_of(device);
    if (const auto* ports = child(document, "ports").object())
        for (const auto& port : *ports)
            state.ports.push_back(port_of(port.key, port.value));
    if (const auto* balance = document.find("balance")) state.balance = balance_of(*balance);
    if (const auto* offload = document.find("offload")) state.offload = offload_of(state.name, *offload);
    state.document = std::move(document);
    return state;
}

const PortStatus* find_port(const TeamState& state, std::string_view name) {
    const auto found = std::ranges::find(state.ports, name, &PortStatus::name);
    return found == state.ports.end() ? nullptr : &*found;
}

const PortBalance* find_balance(const TeamState& state, std::string_view port) {
    if (!state.balance) return nullptr;
    const auto found = std::ranges::find(state.balance->ports, port, &PortBalance::name);
    return found == state.balance->ports.end() ? nullptr : &*found;
}

std::vector<const PortStatus*> carriers(const TeamState& state) {
    std::vector<const PortStatus*> list;
    for (const auto& port : state.ports)
        if (port.transmits || (state.runner == "activebackup" && port.link_up)) list.push_back(&port);
    return list;
}

} // namespace teamo::ctl
