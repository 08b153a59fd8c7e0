// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/keys.h"

#include "base/match.h"
#include "model/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace teamo::config {
namespace {

using enum Shape;
using enum Fault;

constexpr auto tx_hash_words = [] {
    std::array<std::string_view, hash_words.size() - 1> words;
    std::ranges::transform(std::span(hash_words).first(words.size()), words.begin(), &HashWord::word);
    return words;
}();
constexpr auto fallback_words = std::to_array<std::string_view>({"single", "static"});
constexpr auto tx_balancer_words = std::to_array<std::string_view>({"basic"});

constexpr auto activebackup = std::to_array<std::string_view>({"activebackup"});
constexpr auto lacp = std::to_array<std::string_view>({"lacp"});
constexpr auto hashing = std::to_array<std::string_view>({"loadbalance", "lacp"});
constexpr auto balancing = std::to_array<std::string_view>({"loadbalance", "lacp", "slb"});
constexpr auto sticking = std::to_array<std::string_view>({"activebackup", "lacp"});
constexpr auto ethtool = std::to_array<std::string_view>({"ethtool"});
constexpr auto arp_ping = std::to_array<std::string_view>({"arp_ping"});
constexpr auto loss = std::to_array<std::string_view>({"loss"});
constexpr auto pinging = std::to_array<std::string_view>({"arp_ping", "nsna_ping"});
constexpr auto tipc = std::to_array<std::string_view>({"tipc"});

constexpr Range any_int{-2147483648LL, 2147483647};
constexpr Range u16{0, 65535};

// wrong_shape is `refused` if teamd cannot write its default back or needs the value; wrong_value is
// `tolerated` if teamd checks the value and uses its default.
constexpr auto table = std::to_array<Key>({
    {"device",
     {.shape = string, .wrong_shape = refused},
     "Name of the team device. Default: the first free \"teamN\"."},
    {"debug_level",
     {.shape = integer, .fallback = 0, .wrong_value = tolerated},
     "Debug level, as with the same number of -g options."},
    {"hwaddr", {.shape = string}, "MAC address of the team device. Default: the address of the first port."},
    {"runner", {.shape = object, .wrong_shape = refused}, "Selects which ports carry."},
    {"runner.name",
     {.shape = string, .fallback = "roundrobin", .words = runner_names, .wrong_shape = refused},
     "Name of the runner."},
    {"runner.addr", {.shape = string}, "ZeroMQ address of teamd when built with ZeroMQ; has no effect here."},
    {"runner.hwaddr_policy",
     {.shape = string, .fallback = "same_all", .words = enum_names<HwaddrPolicy>, .used_by = activebackup},
     "MAC addresses: all ports have that of the team (same_all), the team has that of the active port "
     "(by_active), or only the active port has that of the team (only_active)."},
    {"runner.active",
     {.shape = boolean, .fallback = true, .used_by = lacp},
     "Send LACPDUs actively; otherwise only after the partner has sent one."},
    {"runner.fast_rate",
     {.shape = boolean, .fallback = false, .used_by = lacp},
     "Ask the partner for an LACPDU every second instead of every 30 seconds."},
    {"runner.sys_prio",
     {.shape = integer, .fallback = 65535, .range = u16, .used_by = lacp},
     "LACP system priority; the system with the lower number decides."},
    {"runner.system",
     {.shape = string, .used_by = lacp},
     "LACP system identifier, a MAC address. Two machines with the same one, and the same lacp_key, are one "
     "partner for a switch (MC-LAG). Default: the address of the team."},
    {"runner.min_ports",
     {.shape = integer, .fallback = 1, .range = {1, 1024}},
     "Number of ports that must be able to carry before the team has a carrier."},
    {"runner.agg_select_policy",
     {.shape = string, .fallback = "lacp_prio", .words = enum_names<AggSelectPolicy>, .used_by = lacp},
     "How the aggregator is selected."},
    {"runner.fallback",
     {.shape = boolean, .fallback = false, .used_by = lacp},
     "Ports carry although no partner has ever answered (as in SONiC)."},
    {"runner.fallback_method",
     {.shape = string, .fallback = "single", .words = fallback_words, .used_by = lacp},
     "With fallback: one port carries (single), or all do, as a static aggregate (static)."},
    {"runner.tx_hash",
     {.shape = strings,
      .fallback = R"(["eth", "ipv4", "ipv6"])",
      .words = tx_hash_words,
      .used_by = hashing,
      .wrong_value = tolerated},
     "Fields of a packet that select its port."},
    {"runner.tx_balancer",
     {.shape = object, .used_by = balancing},
     "Moves hash buckets between ports by their load."},
    {"runner.tx_balancer.name",
     {.shape = string, .words = tx_balancer_words, .used_by = balancing, .wrong_value = tolerated},
     "Name of the balancer. Without it nothing is moved."},
    {"runner.tx_balancer.balancing_interval",
     {.shape = integer, .fallback = 50, .used_by = balancing, .wrong_value = tolerated},
     "Tenths of a second between two measurements of the load."},
    {"notify_peers",
     {.shape = object},
     "Gratuitous ARP and unsolicited neighbour advertisements when the active port has changed or a port was "
     "lost, and with the runner slb for the addresses that have moved to another port."},
    {"notify_peers.count",
     {.shape = integer, .fallback = 0},
     "Number of bursts; the default of the runner activebackup is 1, and that of slb 2, a second apart."},
    {"notify_peers.interval", {.shape = integer, .fallback = 0}, "Milliseconds between two bursts."},
    {"mcast_rejoin",
     {.shape = object},
     "IGMP and MLD reports when the active port has changed or a port was lost."},
    {"mcast_rejoin.count",
     {.shape = integer, .fallback = 0},
     "Number of bursts; the default of the runner activebackup is 1."},
    {"mcast_rejoin.interval", {.shape = integer, .fallback = 0}, "Milliseconds between two bursts."},
    {"link_watch_policy",
     {.shape = string, .fallback = "any", .words = enum_names<LinkWatchPolicy>},
     "Whether one link watch that reports the link up is enough (any), or all must (all)."},
    {"link_watch",
     {.shape = watches, .wrong_shape = refused},
     "How the link of every port is watched, in addition to the link watches of the port itself."},
    {"link_watch.name",
     {.shape = string, .words = link_watch_names, .required = true, .wrong_shape = refused},
     "Name of the link watch."},
    {"link_watch.delay_up",
     {.shape = integer, .fallback = 0, .used_by = ethtool},
     "Milliseconds until a link that comes up counts as up, unless no other port carries."},
    {"link_watch.delay_down",
     {.shape = integer, .fallback = 0, .used_by = ethtool},
     "Milliseconds until a link that goes down counts as down."},
    {"link_watch.interval",
     {.shape = integer, .fallback = 1000, .used_by = pinging},
     "Milliseconds between two probes."},
    {"link_watch.init_wait",
     {.shape = integer, .fallback = 0, .used_by = pinging, .wrong_value = tolerated},
     "Milliseconds before the first probe."},
    {"link_watch.missed_max",
     {.shape = integer, .fallback = 3, .used_by = pinging},
     "The link is down when more than this number of answers are missing."},
    {"link_watch.source_host",
     {.shape = string, .fallback = "0.0.0.0", .used_by = arp_ping},
     "Host name or IPv4 address of the sender of the probes."},
    {"link_watch.target_host",
     {.shape = string, .used_by = pinging, .required = true, .wrong_shape = refused},
     "Host name or address to probe: IPv4 for arp_ping, IPv6 for nsna_ping."},
    {"link_watch.validate_active",
     {.shape = boolean, .fallback = false, .used_by = arp_ping},
     "On active ports count only answers to the probes, not every ARP packet."},
    {"link_watch.validate_inactive",
     {.shape = boolean, .fallback = false, .used_by = arp_ping},
     "On inactive ports count only answers to the probes, not every ARP packet."},
    {"link_watch.vlanid",
     {.shape = integer, .range = {0, 4095}, .used_by = arp_ping},
     "VLAN of the probes. Default: no VLAN tag."},
    {"link_watch.send_always",
     {.shape = boolean, .fallback = false, .used_by = arp_ping},
     "Send probes on inactive ports too."},
    {"link_watch.tipc_bearer",
     {.shape = string, .used_by = tipc, .required = true, .wrong_shape = refused},
     "Name of the TIPC bearer whose links are watched; at most 31 bytes."},
    {"link_watch.max_loss",
     {.shape = integer, .fallback = 5, .range = {1, 1000}, .used_by = loss},
     "Per mille of the TCP segments of a port that may be sent again."},
    {"link_watch.retry",
     {.shape = integer, .fallback = 30000, .range = {1000, 3600000}, .used_by = loss},
     "Milliseconds until a port that was taken out is used again; doubles after each new loss."},
    {"link_watch.damping",
     {.shape = object, .wrong_shape = refused},
     "Use a port that loses its link again and again only while no other port can. Without it a port is used "
     "whenever it has a link."},
    {"link_watch.damping.penalty",
     {.shape = integer, .fallback = 1000, .range = {1, 1000000}, .wrong_shape = refused},
     "What each loss of the link adds to the penalty of the port."},
    {"link_watch.damping.half_life",
     {.shape = integer, .fallback = 60000, .range = {100, 86400000}, .wrong_shape = refused},
     "Milliseconds in which the penalty halves."},
    {"link_watch.damping.suppress",
     {.shape = integer, .fallback = 2000, .range = {2, 1000000}, .wrong_shape = refused},
     "With a higher penalty the port is used only while no other port can."},
    {"link_watch.damping.reuse",
     {.shape = integer, .fallback = 1000, .range = {1, 1000000}, .wrong_shape = refused},
     "When the penalty has fallen to this, the port is used like the others again; below suppress."},
    {"link_watch.damping.max_suppress",
     {.shape = integer, .fallback = 300000, .range = {100, 86400000}, .wrong_shape = refused},
     "Milliseconds after its last loss when the port is used like the others at the latest."},
    {"ports", {.shape = ports}, "The devices of the team by name, each with an object."},
    {"ports.PORTIFNAME",
     {.shape = object},
     "One port. A device that does not exist yet joins when it appears."},
    {"ports.PORTIFNAME.queue_id",
     {.shape = integer, .range = u16},
     "Queue of the team device whose packets go to this port."},
    {"ports.PORTIFNAME.prio",
     {.shape = integer, .fallback = 0, .range = any_int},
     "The port with the higher number is preferred."},
    {"ports.PORTIFNAME.sticky",
     {.shape = boolean, .fallback = false, .used_by = sticking},
     "Keep this port active even if a better port comes back."},
    {"ports.PORTIFNAME.lacp_prio",
     {.shape = integer, .fallback = 255, .range = u16, .used_by = lacp},
     "LACP port priority; the port with the lower number is preferred."},
    {"ports.PORTIFNAME.lacp_key",
     {.shape = integer, .fallback = 0, .range = u16, .used_by = lacp},
     "LACP key; only ports with the same key are aggregated. With 0 the key follows from the speed, so that "
     "ports of different speeds are not aggregated."},
    {"ports.PORTIFNAME.weight",
     {.shape = integer, .range = {1, 1000000}, .used_by = balancing, .wrong_shape = refused},
     "Share of the hash buckets and of the load beside those of the other ports, of which those without a "
     "weight have 1. Default: no port has one; buckets are shared evenly, and load by the speeds."},
    {"ports.PORTIFNAME.drain",
     {.shape = boolean, .fallback = false, .wrong_shape = refused},
     "Take all traffic off this port while another port can carry it, so that its cable can be pulled."},
    {"ports.PORTIFNAME.link_watch",
     {.shape = watches, .wrong_shape = refused},
     "Like link_watch, for this port, in addition to the link watches of the team."},
    {"ports.PORTIFNAME.offload",
     {.shape = object, .wrong_shape = refused, .members_of = "offload"},
     "Like offload, for this port; takes precedence over that of the team."},
    {"datapath",
     {.shape = string, .fallback = "auto", .words = enum_names<DatapathChoice>, .wrong_shape = refused},
     "What carries the packets: the kernel's team driver (team), its bonding driver with a BPF program that "
     "chooses the port (bond), BPF programs (bpf), or auto: of those that the kernel has bond for "
     "loadbalance, activebackup and lacp, bpf for slb, and team for the others."},
    {"attach",
     {.shape = boolean, .fallback = false, .wrong_shape = refused},
     "The device is a bond that another program made and keeps: steer it in its own mode, and change nothing "
     "else. With it interrupts.policy is off unless it is written."},
    {"offload",
     {.shape = object, .wrong_shape = refused},
     "Which offloads of the ports must be on, and what to do with a port that lacks one."},
    {"offload.FEATURE",
     {.shape = string, .words = enum_names<OffloadWish>, .wrong_shape = refused},
     "For one offload by its ethtool name (tx-tcp-segmentation) or for a group (tso): keep it on if it was "
     "on, require it, or switch it off. Default: keep; TSO is required if any port has it."},
    {"offload.lacking",
     {.shape = string, .fallback = "accept", .words = enum_names<Lacking>, .wrong_shape = refused},
     "What to do with a port that lacks a required offload: use it nevertheless (accept), use it only while "
     "no other port can carry (demote), or do not let it join (refuse)."},
    {"offload.repair",
     {.shape = boolean, .fallback = true, .wrong_shape = refused},
     "Set an offload again if another program has changed it; with false the change is only logged."},
    {"balance",
     {.shape = object, .wrong_shape = refused},
     "How hash buckets are moved between ports by their load, with runner.tx_balancer."},
    {"balance.aware",
     {.shape = boolean, .fallback = true, .wrong_shape = refused},
     "Consider also the offloads and the interrupt CPUs of the ports: put bulk on ports with TSO. If true is "
     "written, balancing is on."},
    {"balance.wait_for_gap",
     {.shape = boolean, .fallback = true, .wrong_shape = refused},
     "Move a bucket when its traffic has paused so long that the queue of its old port is empty."},
    {"balance.max_wait",
     {.shape = integer, .fallback = 5000, .range = {0, 600000}, .wrong_shape = refused},
     "Milliseconds to wait for a pause; after that the bucket moves without one if min_gain allows it, else "
     "it stays."},
    {"balance.min_gain",
     {.shape = integer, .fallback = 10, .range = {0, 100}, .wrong_shape = refused},
     "By how many per cent the load of the fullest port must decrease to move a bucket without a pause."},
    {"interrupts",
     {.shape = object, .wrong_shape = refused},
     "Which CPUs serve the interrupts of the ports."},
    {"interrupts.policy",
     {.shape = string, .fallback = "unique", .words = enum_names<InterruptPolicy>, .wrong_shape = refused},
     "Give each port an interrupt CPU of its own (unique), or do not change the interrupts (off)."},
    {"interrupts.cpus",
     {.shape = string, .wrong_shape = refused},
     "The CPUs to use, as the kernel writes lists of CPUs: \"0-3,6\". Default: all CPUs that are online and "
     "not isolated."},
    {"interrupts.xps",
     {.shape = boolean, .fallback = true, .wrong_shape = refused},
     "Let each CPU send by the queue of a port whose interrupt CPU is nearest."},
    {"interrupts.rps",
     {.shape = boolean, .fallback = false, .wrong_shape = refused},
     "Distribute the received packets of each port over the CPUs that share a cache with its interrupt CPU."},
    {"interrupts.irqbalance",
     {.shape = boolean, .fallback = true, .wrong_shape = refused},
     "Ask irqbalance not to move the interrupts of the ports."},
    {"workers",
     {.shape = objects, .wrong_shape = refused},
     "Rules for the processes that must run where their packets arrive; the first rule that matches "
     "applies."},
    {"workers.unit",
     {.shape = string, .wrong_shape = refused},
     "Processes of a systemd unit; the name may contain the wildcards * and ?."},
    {"workers.cgroup",
     {.shape = string, .wrong_shape = refused},
     "Processes of a control group and of the groups below it."},
    {"workers.command",
     {.shape = string, .wrong_shape = refused},
     "Processes with this name (ps -o comm); it may contain the wildcards * and ?."},
    {"workers.user", {.shape = string, .wrong_shape = refused}, "Processes of a user, by name or number."},
    {"workers.policy",
     {.shape = string, .fallback = "follow", .words = enum_names<WorkerPolicy>, .wrong_shape = refused},
     "Run a process where most of its packets arrive (follow), each on a CPU of its own (spread), or do not "
     "bind it (off)."},
    {"guard",
     {.shape = string, .fallback = "off", .words = enum_names<GuardMode>, .wrong_shape = refused},
     "Drop frames that nobody on this host wants: ARP requests and neighbour solicitations for other hosts "
     "(arp), also frames to their MAC addresses, and broadcasts and multicasts above a rate (full)."},
});

constexpr std::string_view offload = "offload", feature = "FEATURE";

} // namespace

std::span<const Key> keys() { return table; }

std::string_view name_of(Shape shape) {
    constexpr std::array names{"a string",
                               "an integer",
                               "true or false",
                               "an object",
                               "an array of strings",
                               "an array of objects",
                               "an object or an array of objects",
                               "an object"};
    return names[static_cast<std::size_t>(shape)];
}

std::string text_of(const Fallback& fallback) {
    return std::visit(Match{
                          [](std::monostate) { return std::string(); },
                          [](std::string_view text) {
                              return text.starts_with('[') ? std::string(text) : fmt::format("\"{}\"", text);
                          },
                          [](auto flag_or_number) { return fmt::to_string(flag_or_number); },
                      },
                      fallback);
}

bool Key::is_used_by(std::string_view user) const {
    return rules.used_by.empty() || std::ranges::find(rules.used_by, user) != rules.used_by.end();
}

std::vector<const Key*> members_of(std::string_view path) {
    std::vector<const Key*> members;
    for (const auto& key : table)
        if (key.parent() == path) members.push_back(&key);
    return members;
}

const Key* find_key(std::string_view path) {
    const auto* found = std::ranges::find(table, path, &Key::path);
    return found == table.end() ? nullptr : found;
}

std::vector<std::string_view> member_names(std::string_view path) {
    std::vector<std::string_view> names;
    for (const auto* key : members_of(path))
        if (key->name() != feature) names.push_back(key->name());
    if (path == offload) std::ranges::copy(offload_names(), std::back_inserter(names));
    return names;
}

const Key* find_member(std::string_view parent, std::string_view name) {
    if (name == feature) return nullptr;
    if (parent == offload && !offloads_named(name).empty()) return find_key("offload.FEATURE");
    for (const auto& key : table)
        if (key.parent() == parent && key.name() == name) return &key;
    return nullptr;
}

} // namespace teamo::config
