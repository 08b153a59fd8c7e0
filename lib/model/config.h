// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A team's configuration, typed and with all defaults set. Options, defaults and ranges are those of
// teamd.conf(5); lib/config reads it from text.
#pragma once

#include "base/cpu_list.h"
#include "base/mac_address.h"
#include "base/result.h"
#include "model/offload.h"
#include "model/workers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace teamo {

using std::chrono::milliseconds;

// ---- link watches ----------------------------------------------------------------------------

struct EthtoolWatch {
    milliseconds delay_up{0};   ///< from link up to "up"; cancelled if the link goes down meanwhile
    milliseconds delay_down{0}; ///< from link down to "down"
    bool operator==(const EthtoolWatch&) const = default;
};
struct ArpPingWatch {
    milliseconds interval{1000}, init_wait{0};
    std::uint32_t missed_max = 3;
    std::string source_host = "0.0.0.0", target_host;
    bool validate_active = false, validate_inactive = false, send_always = false;
    std::optional<std::uint16_t> vlanid; ///< 0 to 4095
    bool operator==(const ArpPingWatch&) const = default;
};
struct NsnaPingWatch {
    milliseconds interval{1000}, init_wait{0};
    std::uint32_t missed_max = 3;
    std::string target_host;
    bool operator==(const NsnaPingWatch&) const = default;
};
struct TipcWatch {
    std::string tipc_bearer;
    bool operator==(const TipcWatch&) const = default;
};
/// Not in teamd: a port that loses packets although its link is up is used only while no other can.
struct LossWatch {
    std::uint32_t max_loss = 5; ///< per mille of the TCP segments that may be sent again; 1 to 1000
    milliseconds retry{30'000}; ///< before the port is tried again the first time
    bool operator==(const LossWatch&) const = default;
};
using LinkWatch = std::variant<EthtoolWatch, ArpPingWatch, NsnaPingWatch, TipcWatch, LossWatch>;
inline constexpr std::array<std::string_view, 5> link_watch_names{"ethtool", "arp_ping", "nsna_ping", "tipc",
                                                                  "loss"};

/// Not in teamd: a port that loses its link again and again is used only while no other port can. Each loss
/// adds a penalty, which halves every half_life (RFC 2439, and interface dampening of routers).
struct DampingConfig {
    std::uint32_t penalty = 1000, suppress = 2000, reuse = 1000;
    milliseconds half_life{60'000};
    milliseconds max_suppress{300'000}; ///< after the last loss the port is used again at the latest
    bool operator==(const DampingConfig&) const = default;
};

enum class LinkWatchPolicy : std::uint8_t { any, all };
template <>
inline constexpr std::array<std::string_view, 2> enum_names<LinkWatchPolicy>{"any", "all"};

// ---- runners ---------------------------------------------------------------------------------

/// The fields of a transmit hash, one bit each (teamd.conf: tx_hash). "ip" and "l3" are ipv4 + ipv6, "l4" is
/// tcp + udp + sctp. The bits must match lib/datapath/bpf/abi.h.
enum class HashField : std::uint32_t {
    eth = 1U << 0,
    vlan = 1U << 1,
    ipv4 = 1U << 2,
    ipv6 = 1U << 3,
    tcp = 1U << 4,
    udp = 1U << 5,
    sctp = 1U << 6,
    cpu = 1U << 7, ///< not in teamd: the port whose interrupts the sending CPU serves (APA's LB_CPU); the
                   ///< other fields are for CPUs without a port that carries
    source =
        1U << 8, ///< not in tx_hash: the source address and the outermost VLAN (runner slb), and nothing else
};
using HashFields = std::uint32_t; ///< a set of HashField

constexpr bool has(HashFields fields, HashField field) {
    return (fields & static_cast<HashFields>(field)) != 0;
}

constexpr HashFields operator|(HashField a, HashField b) {
    return static_cast<HashFields>(a) | static_cast<HashFields>(b);
}
constexpr HashFields operator|(HashFields a, HashField b) { return a | static_cast<HashFields>(b); }

/// The words of tx_hash. The state has a field by the word that means this field only.
struct HashWord {
    std::string_view word;
    HashFields fields;
};
inline constexpr auto hash_words = std::to_array<HashWord>({
    {"eth", HashFields{} | HashField::eth},
    {"vlan", HashFields{} | HashField::vlan},
    {"ipv4", HashFields{} | HashField::ipv4},
    {"ipv6", HashFields{} | HashField::ipv6},
    {"ip", HashField::ipv4 | HashField::ipv6},
    {"l3", HashField::ipv4 | HashField::ipv6},
    {"tcp", HashFields{} | HashField::tcp},
    {"udp", HashFields{} | HashField::udp},
    {"sctp", HashFields{} | HashField::sctp},
    {"l4", HashField::tcp | HashField::udp | HashField::sctp},
    {"cpu", HashFields{} | HashField::cpu},
    {"source", HashFields{} | HashField::source}, // the last: no word of tx_hash
});
/// None for an unknown word.
constexpr HashFields hash_fields_named(std::string_view word) {
    const auto* found = std::ranges::find(hash_words, word, &HashWord::word);
    return found == hash_words.end() ? HashFields{} : found->fields;
}
/// The names of the fields, each of one field.
inline std::vector<std::string> hash_field_names(HashFields fields) {
    std::vector<std::string> names;
    for (const auto& each : hash_words)
        if (std::has_single_bit(each.fields) && (fields & each.fields) != 0) names.emplace_back(each.word);
    return names;
}

inline constexpr HashFields default_tx_hash = HashField::eth | HashField::ipv4 | HashField::ipv6;

/// teamd's "basic" balancer, which moves buckets by their load.
struct TxBalancer {
    milliseconds balancing_interval{5000}; ///< configured in tenths of a second
    bool operator==(const TxBalancer&) const = default;
};

struct BroadcastRunner {
    bool operator==(const BroadcastRunner&) const = default;
};
struct RoundRobinRunner {
    bool operator==(const RoundRobinRunner&) const = default;
};
struct RandomRunner {
    bool operator==(const RandomRunner&) const = default;
};

/// Which hardware address team and ports have (teamd.conf: runner.hwaddr_policy).
enum class HwaddrPolicy : std::uint8_t {
    same_all,    ///< every port has the team's address, always
    by_active,   ///< the team takes the active port's address
    only_active, ///< the active port has the team's address, the others keep their own
};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<HwaddrPolicy>{"same_all", "by_active",
                                                                          "only_active"};

struct ActiveBackupRunner {
    HwaddrPolicy hwaddr_policy = HwaddrPolicy::same_all;
    bool operator==(const ActiveBackupRunner&) const = default;
};
struct LoadBalanceRunner {
    HashFields tx_hash = default_tx_hash;
    std::optional<TxBalancer> tx_balancer;
    bool operator==(const LoadBalanceRunner&) const = default;
};
enum class AggSelectPolicy : std::uint8_t { lacp_prio, lacp_prio_stable, bandwidth, count, port_config };
template <>
inline constexpr std::array<std::string_view, 5> enum_names<AggSelectPolicy>{
    "lacp_prio", "lacp_prio_stable", "bandwidth", "count", "port_config"};

/// Which ports carry when no partner has ever answered (SONiC: runner.fallback, runner.fallback_method).
enum class LacpFallback : std::uint8_t { none, one_port, all_ports };

struct LacpRunner {
    bool active = true, fast_rate = false;
    std::uint16_t sys_prio = 65535;
    std::optional<MacAddress> system{}; ///< none: the address of the team
    AggSelectPolicy agg_select_policy = AggSelectPolicy::lacp_prio;
    LacpFallback fallback = LacpFallback::none;
    HashFields tx_hash = default_tx_hash;
    std::optional<TxBalancer> tx_balancer;
    bool operator==(const LacpRunner&) const = default;
};
/// Not in teamd: each source address has one port, without any help by the switches (docs/adr/0044).
struct SlbRunner {
    std::optional<TxBalancer> tx_balancer;
    bool operator==(const SlbRunner&) const = default;
};
/// In the order of teamd's own list; the default is roundrobin.
using RunnerConfig = std::variant<BroadcastRunner, RoundRobinRunner, RandomRunner, ActiveBackupRunner,
                                  LoadBalanceRunner, LacpRunner, SlbRunner>;

/// The name in teamd.conf, also of the kernel's mode (except lacp and slb, which use mode "loadbalance").
inline constexpr std::array<std::string_view, 7> runner_names{
    "broadcast", "roundrobin", "random", "activebackup", "loadbalance", "lacp", "slb"};
constexpr const char* name_of(const RunnerConfig& runner) { return runner_names[runner.index()].data(); }

/// The hash fields of a runner; none if it does not hash.
constexpr HashFields hash_fields_of(const RunnerConfig& runner) {
    if (const auto* balance = std::get_if<LoadBalanceRunner>(&runner)) return balance->tx_hash;
    if (const auto* lacp = std::get_if<LacpRunner>(&runner)) return lacp->tx_hash;
    if (std::holds_alternative<SlbRunner>(runner)) return HashFields{} | HashField::source;
    return 0;
}

/// nullptr: the runner does not hash.
constexpr const std::optional<TxBalancer>* tx_balancer_of(const RunnerConfig& runner) {
    if (const auto* balance = std::get_if<LoadBalanceRunner>(&runner)) return &balance->tx_balancer;
    if (const auto* lacp = std::get_if<LacpRunner>(&runner)) return &lacp->tx_balancer;
    if (const auto* slb = std::get_if<SlbRunner>(&runner)) return &slb->tx_balancer;
    return nullptr;
}

constexpr bool is_lacp(const RunnerConfig& runner) { return std::holds_alternative<LacpRunner>(runner); }

// ---- ports and the team ----------------------------------------------------------------------

struct PortConfig {
    std::optional<std::uint16_t> queue_id;
    std::int32_t prio = 0; ///< higher is preferred
    bool sticky = false;   ///< stays active when a better port comes up
    std::uint16_t lacp_prio = 255, lacp_key = 0;
    bool drain = false; ///< carries nothing while another port can
    /// The port's own watches first, then the team's, as teamd instantiates them; never empty (ethtool).
    std::vector<LinkWatch> link_watches{EthtoolWatch{}};
    std::optional<DampingConfig> damping{}; ///< of the first of its watches that has one
    std::optional<std::uint32_t> weight{};  ///< its share of the buckets beside those of the others
    OffloadContract offload{};              ///< the team's, overridden by the port's own keys
    bool operator==(const PortConfig&) const = default;
};

/// How often announcements are repeated after a change of the active port (notify_peers, mcast_rejoin).
struct Repetition {
    std::uint32_t count = 0;
    milliseconds interval{0};
    bool configured = false; ///< false: `count` is a default
    bool operator==(const Repetition&) const = default;
};

enum class DatapathChoice : std::uint8_t { automatic, team, bpf, bond };
template <>
inline constexpr std::array<std::string_view, 4> enum_names<DatapathChoice>{"auto", "team", "bpf", "bond"};

/// Balancing by measured load (key "balance", not in teamd).
struct BalanceConfig {
    bool on = false;   ///< tx_balancer is configured, or `aware` was written as true
    bool aware = true; ///< considers offloads and interrupt CPUs, not only bytes and speeds
    milliseconds interval{5000};
    bool wait_for_gap = true;    ///< a bucket moves in a gap of its traffic
    milliseconds max_wait{5000}; ///< without a gap it moves after this time, if the gain is large enough
    std::uint32_t min_gain = 10; ///< per cent: the least gain for a move without a gap
    bool operator==(const BalanceConfig&) const = default;
};

enum class InterruptPolicy : std::uint8_t {
    unique, ///< a CPU of its own for each port, if there are enough
    off,    ///< interrupts are left alone
};
template <>
inline constexpr std::array<std::string_view, 2> enum_names<InterruptPolicy>{"unique", "off"};

/// Which CPUs serve the ports' interrupts (key "interrupts", not in teamd).
struct InterruptConfig {
    InterruptPolicy policy = InterruptPolicy::unique;
    CpuList cpus{}; ///< eligible CPUs; empty: all that are not isolated
    bool xps = true, rps = false;
    bool irqbalance = true; ///< ask irqbalance to leave the ports' interrupts alone
    bool operator==(const InterruptConfig&) const = default;
};

/// Which frames are dropped that nobody on this host wants (key "guard", not in teamd).
enum class GuardMode : std::uint8_t {
    off,
    arp,  ///< ARP requests and neighbour solicitations for other hosts
    full, ///< also frames to MAC addresses of other hosts, and broadcasts and multicasts above a rate
};
template <>
inline constexpr std::array<std::string_view, 3> enum_names<GuardMode>{"off", "arp", "full"};

struct TeamConfig {
    std::string device;  ///< empty: the first free "team%d"
    bool attach = false; ///< the device is a bond of another program; its mode and policy make the runner
    bool chooses_active = false; ///< attach: in active-backup the runner activebackup does, and not bonding
    std::uint32_t debug_level = 0;
    std::optional<MacAddress> hwaddr; ///< none: the address of the first port
    RunnerConfig runner = RoundRobinRunner{};
    std::uint16_t min_ports = 1; ///< 1 to 1024: with fewer ports that can carry the team has no carrier
    Repetition notify_peers, mcast_rejoin;
    LinkWatchPolicy link_watch_policy = LinkWatchPolicy::any;
    std::vector<LinkWatch> link_watches;                   ///< the team's, for ports that join later
    std::optional<DampingConfig> damping{};                ///< the same
    std::vector<std::pair<std::string, PortConfig>> ports; ///< by device name, in the file's order
    DatapathChoice datapath = DatapathChoice::automatic;
    OffloadContract offload{}; ///< for ports that join later, and the team device
    BalanceConfig balance;
    InterruptConfig interrupts{};
    GuardMode guard = GuardMode::off;
    std::vector<WorkerRule> workers{}; ///< in the file's order: the first that matches a process applies
    bool operator==(const TeamConfig&) const = default;
};

/// ENOTSUP: the team driver has no rule for what arrives, which the runner slb needs.
inline Result<> check_runner(DatapathChoice choice, const RunnerConfig& runner) {
    if (choice != DatapathChoice::team || !std::holds_alternative<SlbRunner>(runner)) return {};
    return fail(ENOTSUP,
                "the kernel's team driver cannot drop what the switches bring back, which the runner "
                "slb needs; set \"datapath\": \"bpf\"");
}

/// True if device TLS is required, which only a bond with the kernel's hash can pass (docs/adr/0022).
inline bool needs_device_tls(const OffloadContract& contract) {
    const auto wish = contract.wishes.find(device_tls);
    return wish != contract.wishes.end() && wish->second == OffloadWish::require;
}
/// The same for the team, or one of its ports.
inline bool needs_device_tls(const TeamConfig& config) {
    return needs_device_tls(config.offload) || std::ranges::any_of(config.ports, [](const auto& port) {
               return needs_device_tls(port.second.offload);
           });
}

/// True if the team may have no carrier although ports have a link.
inline bool withholds_carrier(const TeamConfig& config) {
    return is_lacp(config.runner) || config.min_ports > 1;
}

} // namespace teamo
