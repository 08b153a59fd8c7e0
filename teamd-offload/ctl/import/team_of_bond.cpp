// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/import/team_of_bond.h"

#include "base/whole_number.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace teamo::ctl {
namespace {

using enum Counterpart;

constexpr auto option_table = std::to_array<BondOption>({
    {"active_slave", meaningless, "the port that is active now is no setting"},
    {"actor_port_prio", carried, "ports.PORT.lacp_prio"},
    {"ad_actor_sys_prio", carried, "runner.sys_prio"},
    {"ad_actor_system", carried, "runner.system"},
    {"ad_select", carried,
     "runner.agg_select_policy. stable becomes bandwidth, which changes to a larger aggregator also while "
     "the "
     "present one works; actor_port_prio becomes port_config"},
    {"ad_user_port_key", carried,
     "ports.PORT.lacp_key, which is the whole key: ports of different speeds are aggregated too"},
    {"all_slaves_active", none, "a backup port never receives", "0 dropped"},
    {"arp_all_targets", carried, "link_watch_policy"},
    {"arp_interval", carried, "a link watch arp_ping or nsna_ping for each target, with this interval"},
    {"arp_ip_target", carried,
     "link_watch.target_host of arp_ping, and link_watch.vlanid if the bond runs and the target is in a VLAN "
     "of "
     "it"},
    {"arp_missed_max", carried, "link_watch.missed_max"},
    {"arp_validate", carried,
     "link_watch.validate_active and validate_inactive. A port that is not validated is up while ARP packets "
     "arrive, as with filter; with bonding any packet is enough"},
    {"broadcast_neighbor", none, "ARP and ND packets leave by one port", "0 off"},
    {"coupled_control", meaningless,
     "a port may receive before it transmits (off), except by a team driver before Linux 7.x (on)"},
    {"downdelay", carried, "link_watch.delay_down"},
    {"fail_over_mac", carried,
     "runner.hwaddr_policy: active becomes by_active. follow becomes only_active: a port that is no longer "
     "active gets its own address back, which may be that of the team"},
    {"lacp_active", carried, "runner.active"},
    {"lacp_rate", carried, "runner.fast_rate"},
    {"lacp_strict", carried,
     "runner.fallback: with off, which older kernels always have, it is true, unless min_links is above 1"},
    {"lp_interval", meaningless, "only for balance-tlb and balance-alb"},
    {"max_bonds", meaningless, "each team has a configuration of its own"},
    {"miimon", meaningless, "the kernel reports each change of a link at once"},
    {"min_links", carried, "runner.min_ports with 802.3ad, because bonding ignores it in other modes", "0 1"},
    {"mode", carried, "runner.name; balance-tlb and balance-alb become activebackup"},
    {"ns_ip6_target", carried, "link_watch.target_host of nsna_ping, which has no vlanid"},
    {"num_grat_arp", carried, "notify_peers.count"},
    {"num_unsol_na", carried, "notify_peers.count"},
    {"packets_per_slave", carried,
     "0 becomes the runner random; with more than 1 the runner roundrobin still changes the port after each "
     "packet"},
    {"peer_notif_delay", carried, "notify_peers.interval"},
    {"primary", carried, "ports.PORT.prio"},
    {"primary_reselect", carried, "ports.PORT.sticky; better becomes always"},
    {"prio", carried, "ports.PORT.prio"},
    {"queue_id", carried,
     "ports.PORT.queue_id. It has no effect with the bonding and the BPF datapath, and can crash the kernel "
     "with the team driver"},
    {"resend_igmp", carried, "mcast_rejoin.count and interval"},
    {"tlb_dynamic_lb", meaningless, "only for balance-tlb and balance-alb"},
    {"tx_queues", meaningless, "the datapath has as many as it needs"},
    {"updelay", carried, "link_watch.delay_up; not waited for while no other port carries"},
    {"use_carrier", meaningless, "the kernel reports each change of a link at once"},
    {"xmit_hash_policy", carried, "runner.tx_hash"},
});
static_assert(std::ranges::is_sorted(option_table, {}, &BondOption::name));

// Values that have a number too, in its order.
using Words = std::span<const std::string_view>;
constexpr std::array<std::string_view, 7> modes{"balance-rr", "active-backup", "balance-xor", "broadcast",
                                                "802.3ad",    "balance-tlb",   "balance-alb"};
constexpr std::array<std::string_view, 6> hash_policies{"layer2",   "layer3+4", "layer2+3",
                                                        "encap2+3", "encap3+4", "vlan+srcmac"};
constexpr std::array<std::string_view, 2> rates{"slow", "fast"}, switches{"off", "on"}, any_all{"any", "all"};
constexpr std::array<std::string_view, 4> selections{"stable", "bandwidth", "count", "actor_port_prio"};
constexpr std::array<std::string_view, 7> validations{"none",   "active",        "backup",       "all",
                                                      "filter", "filter_active", "filter_backup"};
constexpr std::array<std::string_view, 3> address_policies{"none", "active", "follow"},
    reselections{"always", "better", "failure"};

constexpr std::int64_t preferred = 100, igmp_interval = 200; // bond_main.c: an IGMP report each HZ/5

/// Reads options, which may be missing; then they have bonding's default.
class Reader {
public:
    explicit Reader(const BondOptions& options) : options_(options) {}

    bool has(std::string_view option) const { return options_.contains(option); }
    std::string text(std::string_view option) const {
        const auto found = options_.find(option);
        return found == options_.end() ? "" : found->second;
    }
    /// "802.3ad 4" as the kernel shows it, "4" or "802.3ad".
    std::string_view word(std::string_view option, Words words, std::size_t usual = 0) {
        const auto list = list_of(text(option));
        if (list.empty()) return words[usual];
        const auto number = whole_number<std::size_t>(list[0]);
        if (number && *number < words.size()) return words[*number];
        if (const auto found = std::ranges::find(words, list[0]); found != words.end()) return *found;
        wrong_ = wrong_.empty() ? fmt::format("{}: bonding has no value \"{}\"", option, list[0]) : wrong_;
        return words[usual];
    }
    std::int64_t number(std::string_view option, std::int64_t usual) {
        const auto list = list_of(text(option));
        if (list.empty()) return usual;
        if (const auto number = whole_number<std::int64_t>(list[0])) return *number;
        wrong_ = wrong_.empty() ? fmt::format("{}: \"{}\" is no number", option, list[0]) : wrong_;
        return usual;
    }
    /// What was wrong first; empty: nothing.
    const std::string& wrong() const { return wrong_; }

private:
    const BondOptions& options_;
    std::string wrong_;
};

json::Array tx_hash(std::string_view policy) {
    if (policy == "layer2") return {"eth"};
    if (policy == "layer2+3" || policy == "encap2+3") return {"eth", "ip"};
    if (policy == "vlan+srcmac") return {"vlan", "eth"};
    return {"ip", "l4"};
}

std::string_view runner_name(std::string_view mode, bool by_packets) {
    if (mode == "balance-rr") return by_packets ? "roundrobin" : "random";
    if (mode == "balance-xor") return "loadbalance";
    if (mode == "broadcast") return "broadcast";
    return mode == "802.3ad" ? "lacp" : "activebackup";
}

void set_unless(json::Value& object, std::string_view key, json::Value value, const json::Value& usual) {
    if (value != usual) object.set(key, std::move(value));
}

json::Value runner_of(Reader& options, std::string_view mode) {
    constexpr const char* no_system = "00:00:00:00:00:00";
    json::Value runner(json::Object{});
    const auto name = runner_name(mode, options.number("packets_per_slave", 1) != 0);
    runner.set("name", name);
    if (name == "loadbalance" || name == "lacp")
        runner.set("tx_hash", tx_hash(options.word("xmit_hash_policy", hash_policies)));
    if (name == "activebackup") {
        const auto policy = options.word("fail_over_mac", address_policies);
        if (policy != "none") runner.set("hwaddr_policy", policy == "active" ? "by_active" : "only_active");
    }
    if (name == "lacp") {
        set_unless(runner, "active", options.word("lacp_active", switches, 1) == "on", true);
        set_unless(runner, "fast_rate", options.word("lacp_rate", rates) == "fast", false);
        set_unless(runner, "sys_prio", options.number("ad_actor_sys_prio", 65535), 65535);
        if (const auto system = options.text("ad_actor_system"); !system.empty() && system != no_system)
            runner.set("system", system);
        const auto least = std::max<std::int64_t>(options.number("min_links", 0), 1);
        set_unless(runner, "min_ports", least, 1);
        set_unless(runner, "fallback", options.word("lacp_strict", switches) == "off" && least == 1, false);
        const auto select = options.word("ad_select", selections);
        runner.set("agg_select_policy", select == "count"             ? "count"
                                        : select == "actor_port_prio" ? "port_config"
                                                                      : "bandwidth");
    }
    return runner;
}

/// arp_ping and nsna_ping by the targets, else ethtool with the delays.
json::Value link_watch_of(const BondSetup& bond, Reader& options) {
    const auto interval = options.number("arp_interval", 0);
    const auto missed = options.number("arp_missed_max", 2);
    const auto validate = options.word("arp_validate", validations);
    json::Array watches;
    if (interval > 0) {
        for (const auto& [name, option] :
             {std::pair{"arp_ping", "arp_ip_target"}, {"nsna_ping", "ns_ip6_target"}})
            for (const auto& target : list_of(options.text(option))) {
                json::Value watch(json::Object{{"name", name}, {"interval", interval}});
                set_unless(watch, "missed_max", missed, 3);
                watch.set("target_host", target);
                if (std::string_view(name) == "arp_ping") {
                    const auto vlans = bond.target_vlans.find(target);
                    if (vlans != bond.target_vlans.end() && vlans->second.size() == 1)
                        watch.set("vlanid", std::int64_t{vlans->second.front()});
                    set_unless(watch, "validate_active",
                               validate == "active" || validate == "all" || validate == "filter_active",
                               false);
                    set_unless(watch, "validate_inactive",
                               validate == "backup" || validate == "all" || validate == "filter_backup",
                               false);
                }
                watches.push_back(std::move(watch));
            }
    }
    if (watches.size() == 1) return std::move(watches[0]);
    if (!watches.empty()) return watches;
    json::Value watch(json::Object{{"name", "ethtool"}});
    set_unless(watch, "delay_up", options.number("updelay", 0), 0);
    set_unless(watch, "delay_down", options.number("downdelay", 0), 0);
    return watch;
}

/// How often neighbours and switches are told of a new active port. The kernel's names of the first number
/// are one setting.
void set_announcements(json::Value& document, Reader& options) {
    const auto unsolicited = options.number("num_unsol_na", 1),
               peers = options.number("num_grat_arp", unsolicited);
    const auto delay = options.number("peer_notif_delay", 0), igmp = options.number("resend_igmp", 1);
    // bonding sends one each time it looks at the links.
    const auto looks =
        options.number("miimon", 0) != 0 ? options.number("miimon", 0) : options.number("arp_interval", 0);
    if (peers != 1 || delay != 0)
        document.set("notify_peers",
                     json::Object{{"count", peers}, {"interval", delay != 0 ? delay : looks}});
    if (igmp != 1) document.set("mcast_rejoin", json::Object{{"count", igmp}, {"interval", igmp_interval}});
}

/// The primary has the highest priority. An active port stays until it fails with primary_reselect "failure",
/// or if all are equal.
json::Value ports_of(const BondSetup& bond, Reader& options, std::string_view runner) {
    const auto primary = list_of(options.text("primary"));
    const auto reselect = options.word("primary_reselect", reselections);
    const auto key = options.number("ad_user_port_key", 0);
    const auto by_rank = options.word("ad_select", selections) == "actor_port_prio";
    std::int64_t highest = 0;
    bool are_equal = primary.empty();
    for (const auto& port : bond.ports) {
        const auto prio = Reader(port.options).number("prio", 0);
        highest = std::max(highest, prio);
        are_equal = are_equal && prio == Reader(bond.ports.front().options).number("prio", 0);
    }
    json::Value ports(json::Object{});
    for (const auto& port : bond.ports) {
        json::Value object(json::Object{});
        Reader own(port.options);
        if (runner == "activebackup") {
            const bool is_primary = !primary.empty() && primary[0] == port.name;
            set_unless(object, "prio", is_primary ? std::max(preferred, highest + 1) : own.number("prio", 0),
                       0);
            if (reselect == "failure" || are_equal) object.set("sticky", true);
        }
        if (runner == "lacp") {
            set_unless(object, "lacp_key", key, 0);
            const auto rank = own.number("actor_port_prio", 255);
            set_unless(object, "lacp_prio", rank, 255);
            if (by_rank) set_unless(object, "prio", rank, 0);
        }
        set_unless(object, "queue_id", own.number("queue_id", 0), 0);
        ports.set(port.name, std::move(object));
    }
    return ports;
}

bool is_neutral(const BondOption& row, const std::string& value) {
    const auto list = list_of(value), neutral = list_of(std::string(row.neutral));
    return list.empty() || std::ranges::find(neutral, list[0]) != neutral.end();
}

std::vector<std::string> lost_options(const BondSetup& bond) {
    std::vector<std::string> lost;
    for (const auto& [name, value] : bond.options) {
        const auto* const row = std::ranges::find(option_table, name, &BondOption::name);
        if (row == option_table.end())
            lost.push_back(fmt::format("{} {}: unknown bonding option", name, value));
        else if (row->counterpart == none && !is_neutral(*row, value))
            lost.push_back(fmt::format("{} {}: no counterpart: {}", name, value, row->text));
    }
    return lost;
}

/// Bonding tags a probe as the route to its target needs it, at each probe.
void add_lost_vlans(const BondSetup& bond, Reader& options, std::vector<std::string>& lost) {
    for (const auto& [option, most] : {std::pair{"arp_ip_target", 1U}, {"ns_ip6_target", 0U}})
        for (const auto& target : list_of(options.text(option))) {
            const auto vlans = bond.target_vlans.find(target);
            const bool is_known = vlans != bond.target_vlans.end();
            if (is_known && vlans->second.size() <= most) continue;
            const auto what = is_known
                                  ? fmt::format("is in VLAN {} of the bond", fmt::join(vlans->second, "."))
                                  : "may be in a VLAN of the bond, which is not known here";
            lost.push_back(fmt::format("{} {}: {}; {}", option, target, what,
                                       most == 0  ? "nsna_ping sends no VLAN tag"
                                       : is_known ? "arp_ping sends one VLAN tag only"
                                                  : "then set vlanid of its link watch"));
        }
}

void add_lost_probes(const BondSetup& bond, Reader& options, bool aggregates,
                     std::vector<std::string>& lost) {
    if (options.number("arp_interval", 0) <= 0) return;
    if (aggregates)
        lost.emplace_back("arp_interval: each port sends its own probes, and an answer counts by whatever "
                          "port the switch returns it; so a port that sends but does not receive is not "
                          "detected. Test this, or use the link watch ethtool");
    const auto validate = options.word("arp_validate", validations);
    if (!validate.starts_with("filter") && validate != "all" &&
        !list_of(options.text("arp_ip_target")).empty())
        lost.push_back(fmt::format("arp_validate {}: a port that is not validated is up while ARP packets "
                                   "arrive, as with filter; with bonding any packet is enough",
                                   validate));
    add_lost_vlans(bond, options, lost);
}

/// Options that are carried over, but not with every value.
std::vector<std::string> lost_values(const BondSetup& bond, Reader& options, std::string_view mode) {
    std::vector<std::string> lost;
    if (mode == "balance-tlb" || mode == "balance-alb")
        lost.push_back(
            fmt::format("mode {}: no counterpart; activebackup needs nothing from the switch either. "
                        "For the throughput of all ports configure an aggregate at the switch, and "
                        "the runner lacp or loadbalance here",
                        mode));
    if (const auto packets = options.number("packets_per_slave", 1); mode == "balance-rr" && packets > 1)
        lost.push_back(fmt::format("packets_per_slave {}: the port changes after each packet", packets));
    if (const auto least = options.number("min_links", 0); mode != "802.3ad" && least > 1)
        lost.push_back(fmt::format(
            "min_links {0}: bonding ignores it in mode {1}; \"min_ports\": {0} in runner would take "
            "the carrier from the team with fewer ports",
            least, mode));
    const auto policy = options.word("xmit_hash_policy", hash_policies);
    if ((mode == "802.3ad" || mode == "balance-xor") && policy.starts_with("encap"))
        lost.push_back(
            fmt::format("xmit_hash_policy {}: the packets inside a tunnel are not read; all packets "
                        "of a tunnel leave by one port, except where its UDP ports differ",
                        policy));
    if (policy == "vlan+srcmac" && (mode == "802.3ad" || mode == "balance-xor"))
        lost.emplace_back("xmit_hash_policy vlan+srcmac: eth is the destination's MAC address too");
    const bool aggregates =
        mode == "802.3ad" || mode == "balance-xor" || mode == "balance-rr" || mode == "broadcast";
    add_lost_probes(bond, options, aggregates, lost);
    const bool has_active = !aggregates;
    // With an address of its own the team never has that of a port.
    if (has_active && options.word("fail_over_mac", address_policies) == "follow" && bond.address.empty())
        lost.emplace_back("fail_over_mac follow: with only_active, a port that is no longer active gets its "
                          "own MAC address back, which may be that of the team; to avoid this, set hwaddr to "
                          "an address that no port has");
    if (has_active && options.word("primary_reselect", reselections) == "better")
        lost.emplace_back("primary_reselect better: the primary is active again also if it is not faster");
    if (const auto key = options.number("ad_user_port_key", 0); mode == "802.3ad" && key != 0)
        lost.push_back(fmt::format("ad_user_port_key {}: is the whole key, so ports of different speeds are "
                                   "aggregated too",
                                   key));
    for (const auto& port : bond.ports)
        if (const auto queue = Reader(port.options).number("queue_id", 0); queue != 0)
            lost.push_back(
                fmt::format("queue_id {} of {}: has no effect with the bonding and the BPF datapath, "
                            "and can crash the kernel with the team driver",
                            queue, port.name));
    if (const auto primary = list_of(options.text("primary"));
        mode == "active-backup" && !primary.empty() &&
        std::ranges::find(bond.ports, primary[0], &BondPortSetup::name) == bond.ports.end())
        lost.push_back(fmt::format("primary {}: is no port of the bond", primary[0]));
    return lost;
}

} // namespace

std::vector<std::string> list_of(std::string text) {
    std::ranges::replace_if(text, [](char letter) { return letter == ',' || letter == ';'; }, ' ');
    std::istringstream words(text);
    std::vector<std::string> list;
    for (std::string word; words >> word;)
        list.push_back(word);
    return list;
}

BondPortSetup& BondSetup::port(std::string_view name) {
    const auto found = std::ranges::find(ports, name, &BondPortSetup::name);
    return found != ports.end() ? *found : ports.emplace_back(BondPortSetup{.name = std::string(name)});
}

std::span<const BondOption> bond_options() { return option_table; }

Result<ImportedTeam> team_of(const BondSetup& bond) {
    Reader options(bond.options);
    const auto mode = options.word("mode", modes);
    ImportedTeam team{.document = json::Object{{"device", bond.device}}, .lost = lost_options(bond)};
    if (bond.ports.empty()) team.lost.emplace_back("no port was found; add them to \"ports\"");
    auto& document = team.document;
    if (!bond.address.empty()) document.set("hwaddr", bond.address);
    auto runner = runner_of(options, mode);
    const auto name = *runner.find("name")->string();
    document.set("runner", std::move(runner));
    if (name == "activebackup" || name == "loadbalance" || name == "lacp")
        set_announcements(document, options);
    document.set("link_watch", link_watch_of(bond, options));
    if (document.find("link_watch")->array() != nullptr)
        set_unless(document, "link_watch_policy", options.word("arp_all_targets", any_all), "any");
    document.set("ports", ports_of(bond, options, name));
    if (!options.wrong().empty()) return fail(EINVAL, options.wrong());
    std::ranges::move(lost_values(bond, options, mode), std::back_inserter(team.lost));
    return team;
}

} // namespace teamo::ctl
