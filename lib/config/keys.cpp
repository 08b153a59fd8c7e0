// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/keys.h"

#include "base/match.h"
#include "model/offload.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace teamo::config {
namespace {

using namespace std::string_view_literals;
using enum Shape;
using enum Fault;

constexpr auto activebackup = std::to_array<std::string_view>({"activebackup"});
constexpr auto lacp = std::to_array<std::string_view>({"lacp"});
constexpr auto hashing = std::to_array<std::string_view>({"loadbalance", "lacp"});
constexpr auto sticking = std::to_array<std::string_view>({"activebackup", "lacp"});
constexpr auto ethtool = std::to_array<std::string_view>({"ethtool"});
constexpr auto arp_ping = std::to_array<std::string_view>({"arp_ping"});
constexpr auto pinging = std::to_array<std::string_view>({"arp_ping", "nsna_ping"});
constexpr auto tipc = std::to_array<std::string_view>({"tipc"});

constexpr Range any_int{-2147483648LL, 2147483647};
constexpr Range u16{0, 65535};
constexpr std::int64_t zero = 0;
constexpr std::string_view offload = "offload", feature = "FEATURE";

// wrong_shape is refused where teamd cannot write its default back, or needs the value; wrong_value is
// tolerated where teamd looks at what it got and takes its default.
constexpr auto table = std::to_array<Key>({
    {.path = "device",
     .shape = string,
     .wrong_shape = refused,
     .help = "Name of the team device. Without it the first free \"teamN\"."},
    {.path = "debug_level",
     .shape = integer,
     .fallback = zero,
     .wrong_value = tolerated,
     .help = "How much is logged for debugging; as many -g options do the same."},
    {.path = "hwaddr",
     .shape = string,
     .help = "Hardware address of the team device. Without it that of the first port."},
    {.path = "runner",
     .shape = object,
     .wrong_shape = refused,
     .help = "What decides which port carries what."},
    {.path = "runner.name",
     .shape = string,
     .fallback = "roundrobin"sv,
     .words = runner_words,
     .wrong_shape = refused,
     .help = "Name of the runner."},
    {.path = "runner.addr",
     .shape = string,
     .help = "ZeroMQ address of teamd's own builds with ZeroMQ; has no effect here."},
    {.path = "runner.hwaddr_policy",
     .shape = string,
     .fallback = "same_all"sv,
     .words = hwaddr_policy_words,
     .used_by = activebackup,
     .help =
         "Which hardware addresses team and ports have: all that of the team, the team that of the active "
         "port, or only the active port that of the team."},
    {.path = "runner.active",
     .shape = boolean,
     .fallback = true,
     .used_by = lacp,
     .help = "Send LACPDUs unasked; otherwise speak when spoken to."},
    {.path = "runner.fast_rate",
     .shape = boolean,
     .fallback = false,
     .used_by = lacp,
     .help = "Ask the partner for an LACPDU every second, not every 30 seconds."},
    {.path = "runner.sys_prio",
     .shape = integer,
     .fallback = std::int64_t{65535},
     .range = u16,
     .used_by = lacp,
     .help = "System priority; the lower one decides."},
    {.path = "runner.min_ports",
     .shape = integer,
     .fallback = std::int64_t{1},
     .range = {1, 1024},
     .used_by = lacp,
     .help = "How many ports must carry before the team has a carrier."},
    {.path = "runner.agg_select_policy",
     .shape = string,
     .fallback = "lacp_prio"sv,
     .words = agg_select_policy_words,
     .used_by = lacp,
     .help = "Which aggregator is selected."},
    {.path = "runner.tx_hash",
     .shape = strings,
     .fallback = R"(["eth", "ipv4", "ipv6"])"sv,
     .words = tx_hash_words,
     .used_by = hashing,
     .wrong_value = tolerated,
     .help = "The parts of a packet that choose its port."},
    {.path = "runner.tx_balancer",
     .shape = object,
     .used_by = hashing,
     .help = "Moves hash buckets between ports by their load."},
    {.path = "runner.tx_balancer.name",
     .shape = string,
     .words = tx_balancer_words,
     .used_by = hashing,
     .wrong_value = tolerated,
     .help = "Name of the balancer. Without it nothing is moved."},
    {.path = "runner.tx_balancer.balancing_interval",
     .shape = integer,
     .fallback = std::int64_t{50},
     .used_by = hashing,
     .wrong_value = tolerated,
     .help = "Tenths of a second between moves."},
    {.path = "notify_peers",
     .shape = object,
     .help = "Gratuitous ARP and unsolicited neighbour advertisements once a port is enabled."},
    {.path = "notify_peers.count",
     .shape = integer,
     .fallback = zero,
     .help = "How many bursts; the activebackup runner's default is 1."},
    {.path = "notify_peers.interval",
     .shape = integer,
     .fallback = zero,
     .help = "Milliseconds between bursts."},
    {.path = "mcast_rejoin",
     .shape = object,
     .help = "Multicast groups are joined anew once a port is enabled."},
    {.path = "mcast_rejoin.count",
     .shape = integer,
     .fallback = zero,
     .help = "How many bursts; the activebackup runner's default is 1."},
    {.path = "mcast_rejoin.interval",
     .shape = integer,
     .fallback = zero,
     .help = "Milliseconds between bursts."},
    {.path = "link_watch_policy",
     .shape = string,
     .fallback = "any"sv,
     .words = link_watch_policy_words,
     .help = "Whether one link watch that sees the link up is enough, or all must."},
    {.path = "link_watch",
     .shape = watches,
     .wrong_shape = refused,
     .help = "What tells whether a port's link is up: for every port, besides the port's own."},
    {.path = "link_watch.name",
     .shape = string,
     .words = link_watch_words,
     .required = true,
     .wrong_shape = refused,
     .help = "Name of the link watch."},
    {.path = "link_watch.delay_up",
     .shape = integer,
     .fallback = zero,
     .used_by = ethtool,
     .help = "Milliseconds from link up to telling the runner."},
    {.path = "link_watch.delay_down",
     .shape = integer,
     .fallback = zero,
     .used_by = ethtool,
     .help = "Milliseconds from link down to telling the runner."},
    {.path = "link_watch.interval",
     .shape = integer,
     .fallback = std::int64_t{1000},
     .used_by = pinging,
     .help = "Milliseconds between probes."},
    {.path = "link_watch.init_wait",
     .shape = integer,
     .fallback = zero,
     .used_by = pinging,
     .wrong_value = tolerated,
     .help = "Milliseconds before the first probe."},
    {.path = "link_watch.missed_max",
     .shape = integer,
     .fallback = std::int64_t{3},
     .used_by = pinging,
     .help = "The link is down when more answers than this are missing."},
    {.path = "link_watch.source_host",
     .shape = string,
     .fallback = "0.0.0.0"sv,
     .used_by = arp_ping,
     .help = "Host name or IPv4 address that asks."},
    {.path = "link_watch.target_host",
     .shape = string,
     .used_by = pinging,
     .required = true,
     .wrong_shape = refused,
     .help = "Host name or address that is asked: IPv4 for arp_ping, IPv6 for nsna_ping."},
    {.path = "link_watch.validate_active",
     .shape = boolean,
     .fallback = false,
     .used_by = arp_ping,
     .help = "On active ports only true answers count, not any ARP packet."},
    {.path = "link_watch.validate_inactive",
     .shape = boolean,
     .fallback = false,
     .used_by = arp_ping,
     .help = "On inactive ports only true answers count, not any ARP packet."},
    {.path = "link_watch.vlanid",
     .shape = integer,
     .range = {0, 4095},
     .used_by = arp_ping,
     .help = "VLAN of the requests. Without it they have no tag."},
    {.path = "link_watch.send_always",
     .shape = boolean,
     .fallback = false,
     .used_by = arp_ping,
     .help = "Send on inactive ports too."},
    {.path = "link_watch.tipc_bearer",
     .shape = string,
     .used_by = tipc,
     .required = true,
     .wrong_shape = refused,
     .help = "Name of the TIPC bearer whose links are watched; up to 31 bytes."},
    {.path = "ports",
     .shape = ports,
     .help = "The devices of the team, by name, each with an object of its own."},
    {.path = "ports.PORTIFNAME",
     .shape = object,
     .help = "One port. A device that is not there is skipped until it is."},
    {.path = "ports.PORTIFNAME.queue_id",
     .shape = integer,
     .range = u16,
     .help = "Queue of the team whose packets go to this port."},
    {.path = "ports.PORTIFNAME.prio",
     .shape = integer,
     .fallback = zero,
     .range = any_int,
     .help = "The port with the higher one is preferred."},
    {.path = "ports.PORTIFNAME.sticky",
     .shape = boolean,
     .fallback = false,
     .used_by = sticking,
     .help = "Stay with this port though a better one comes back."},
    {.path = "ports.PORTIFNAME.lacp_prio",
     .shape = integer,
     .fallback = std::int64_t{255},
     .range = u16,
     .used_by = lacp,
     .help = "LACP's port priority; the lower one is preferred."},
    {.path = "ports.PORTIFNAME.lacp_key",
     .shape = integer,
     .fallback = zero,
     .range = u16,
     .used_by = lacp,
     .help = "LACP's key: only ports of one key are aggregated."},
    {.path = "ports.PORTIFNAME.link_watch",
     .shape = watches,
     .wrong_shape = refused,
     .help = "As link_watch, for this port, besides the team's."},
    {.path = "ports.PORTIFNAME.offload",
     .shape = object,
     .wrong_shape = refused,
     .members_of = "offload",
     .help = "As offload, for this port, before the team's."},
    {.path = "datapath",
     .shape = string,
     .fallback = "auto"sv,
     .words = datapath_words,
     .wrong_shape = refused,
     .help = "What carries the packets: the kernel's team driver, BPF, or whichever there is."},
    {.path = "offload",
     .shape = object,
     .wrong_shape = refused,
     .help = "Which of the ports' offloads shall be on, and what is done about a port that lacks one."},
    {.path = "offload.FEATURE",
     .shape = string,
     .words = offload_wish_words,
     .wrong_shape = refused,
     .help = "For one offload by ethtool's name (tx-tcp-segmentation) or for a group of them (tso): keep on "
             "what was on, require it, or switch it off. Without it the offload is kept, and TSO required "
             "where any port has it."},
    {.path = "offload.lacking",
     .shape = string,
     .fallback = "accept"sv,
     .words = lacking_words,
     .wrong_shape = refused,
     .help =
         "What becomes of a port that lacks what is required: used as it is, used while no other is up, or "
         "not taken in."},
    {.path = "offload.repair",
     .shape = boolean,
     .fallback = true,
     .wrong_shape = refused,
     .help = "Switch on again what somebody else has switched off, and the other way round; otherwise it is "
             "only logged."},
    {.path = "balance",
     .shape = object,
     .wrong_shape = refused,
     .help = "How hash buckets are moved between ports by their load, with runner.tx_balancer."},
    {.path = "balance.aware",
     .shape = boolean,
     .fallback = true,
     .wrong_shape = refused,
     .help = "Place by the ports' offloads and interrupt CPUs too: bulk where TSO is. Written as true it "
             "switches balancing on."},
    {.path = "balance.wait_for_gap",
     .shape = boolean,
     .fallback = true,
     .wrong_shape = refused,
     .help = "Move a bucket when its traffic pauses long enough to drain the port it leaves."},
    {.path = "balance.longest_wait",
     .shape = integer,
     .fallback = std::int64_t{5000},
     .range = {0, 600000},
     .wrong_shape = refused,
     .help = "Milliseconds after which a bucket that did not pause moves all the same, or stays."},
    {.path = "balance.least_gain",
     .shape = integer,
     .fallback = std::int64_t{10},
     .range = {0, 100},
     .wrong_shape = refused,
     .help = "By how many per cent the fullest port must get emptier for a move without a pause."},
    {.path = "interrupts",
     .shape = object,
     .wrong_shape = refused,
     .help = "Which CPUs serve the ports' interrupts."},
    {.path = "interrupts.policy",
     .shape = string,
     .fallback = "unique"sv,
     .words = interrupt_policy_words,
     .wrong_shape = refused,
     .help = "Give every port an interrupt CPU of its own, or leave its interrupts as they are."},
    {.path = "interrupts.cpus",
     .shape = string,
     .wrong_shape = refused,
     .help = "The CPUs to choose from, as the kernel lists CPUs: \"0-3,6\". Without it all that are not "
             "isolated."},
    {.path = "interrupts.xps",
     .shape = boolean,
     .fallback = true,
     .wrong_shape = refused,
     .help = "Let each CPU send by the queue of a port whose interrupt CPU is nearest."},
    {.path = "interrupts.rps",
     .shape = boolean,
     .fallback = false,
     .wrong_shape = refused,
     .help = "Spread each port's received packets over the CPUs that share a cache with its interrupt CPU."},
    {.path = "interrupts.irqbalance",
     .shape = boolean,
     .fallback = true,
     .wrong_shape = refused,
     .help = "Ask irqbalance to leave the ports' interrupts alone."},
    {.path = "workers",
     .shape = array,
     .wrong_shape = refused,
     .help = "Which processes run where their packets arrive."},
    {.path = "guard", .shape = string, .wrong_shape = refused, .help = "Which packets the team lets pass."},
});

} // namespace

std::string_view name_of(Shape shape) {
    switch (shape) {
    case string: return "a string";
    case integer: return "an integer";
    case boolean: return "true or false";
    case object: return "an object";
    case array: return "an array";
    case strings: return "an array of strings";
    case watches: return "an object or an array of objects";
    case Shape::ports: return "an object";
    }
    return "?";
}

std::string text_of(const Fallback& fallback) {
    return std::visit(Match{
                          [](std::monostate) { return std::string(); },
                          [](bool flag) { return std::string(flag ? "true" : "false"); },
                          [](std::int64_t number) { return fmt::format("{}", number); },
                          [](std::string_view text) {
                              return text.starts_with('[') ? std::string(text) : fmt::format("\"{}\"", text);
                          },
                      },
                      fallback);
}

bool Key::is_used_by(std::string_view user) const {
    return used_by.empty() || std::ranges::find(used_by, user) != used_by.end();
}

std::span<const Key> keys() { return table; }

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
    for (const auto& key : table)
        if (key.parent() == path && key.name() != feature) names.push_back(key.name());
    if (path == offload) std::ranges::copy(offload_names(), std::back_inserter(names));
    return names;
}

const Key* find_member(std::string_view parent, std::string_view name) {
    if (parent == offload && name != feature && !offloads_named(name).empty())
        return find_key("offload.FEATURE");
    for (const auto& key : table)
        if (key.parent() == parent && key.name() == name && name != feature) return &key;
    return nullptr;
}

} // namespace teamo::config
