// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every key of a configuration file, once: the reader, the warnings with the nearest name, the manual's
// table and the completion of the shell all come from here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace teamo::config {

/// What kind of JSON value a key takes.
enum class Shape : std::uint8_t {
    string,
    integer,
    boolean,
    object,
    strings, ///< an array of strings
    objects, ///< an array of objects, each with the members that stand below
    watches, ///< a link watch, or an array of them
    ports,   ///< an object whose names are devices, each with the members of ports.PORTIFNAME
};
std::string_view name_of(Shape shape);

/// What teamd does with a value it cannot use, and so we: go on with the default, or not start.
enum class Fault : std::uint8_t { tolerated, refused };

/// No default: the key is absent, or means nothing, without a value. That of an array is its JSON text.
using Fallback = std::variant<std::monostate, bool, std::int64_t, std::string_view>;
std::string text_of(const Fallback& fallback);

struct Range {
    std::int64_t least = 0, most = 2147483647; ///< teamd keeps integers in a C int
};

struct Key {               // NOLINT(clang-analyzer-optin.performance.Padding): read as the table is written
    std::string_view path; ///< as the manual writes it: "ports.PORTIFNAME.prio"
    Shape shape;
    Fallback fallback{};
    Range range{};                               ///< of an integer
    std::span<const std::string_view> words{};   ///< what a string, or each of an array, may be; empty: any
    std::span<const std::string_view> used_by{}; ///< the runners or link watches that read it; empty: all
    bool required = false;                       ///< by those in used_by
    Fault wrong_shape = Fault::tolerated;
    Fault wrong_value = Fault::refused;
    std::string_view members_of{}; ///< whose members an object has; empty: its own
    std::string_view help{};

    std::string_view name() const { return path.substr(path.rfind('.') + 1); }
    /// The path under which its members stand in the table.
    std::string_view inner() const { return members_of.empty() ? path : members_of; }
    /// The path of the object it stands in; empty for the top level.
    std::string_view parent() const { return path.substr(0, path.rfind('.') + 1 == 0 ? 0 : path.rfind('.')); }
    bool is_used_by(std::string_view user) const;
    /// Whether teamd starts with a value of the right type that has no meaning, when `user` is what runs.
    Fault value_fault(std::string_view user) const {
        return is_used_by(user) ? wrong_value : Fault::tolerated;
    }
};

/// In the order of the manual.
std::span<const Key> keys();

/// The keys an object at that path can have. A port's link watch has those of "link_watch".
std::vector<const Key*> members_of(std::string_view path);
/// Their names as one can write them, offloads included.
std::vector<std::string_view> member_names(std::string_view path);

/// The key of that path, or nullptr.
const Key* find_key(std::string_view path);
/// Under "offload" every name of an offload is "offload.FEATURE".
const Key* find_member(std::string_view parent, std::string_view name);

// The words are in the order of the enumerators and alternatives of model/config.h.
inline constexpr auto runner_words = std::to_array<std::string_view>(
    {"broadcast", "roundrobin", "random", "activebackup", "loadbalance", "lacp"});
inline constexpr auto hwaddr_policy_words =
    std::to_array<std::string_view>({"same_all", "by_active", "only_active"});
inline constexpr auto agg_select_policy_words =
    std::to_array<std::string_view>({"lacp_prio", "lacp_prio_stable", "bandwidth", "count", "port_config"});
inline constexpr auto link_watch_words =
    std::to_array<std::string_view>({"ethtool", "arp_ping", "nsna_ping", "tipc"});
inline constexpr auto link_watch_policy_words = std::to_array<std::string_view>({"any", "all"});
inline constexpr auto datapath_words = std::to_array<std::string_view>({"auto", "team", "bpf"});
inline constexpr auto interrupt_policy_words = std::to_array<std::string_view>({"unique", "off"});
inline constexpr auto tx_hash_words = std::to_array<std::string_view>(
    {"eth", "vlan", "ipv4", "ipv6", "ip", "l3", "tcp", "udp", "sctp", "l4", "cpu"});
inline constexpr auto worker_policy_words = std::to_array<std::string_view>({"follow", "spread", "off"});
inline constexpr auto tx_balancer_words = std::to_array<std::string_view>({"basic"});

} // namespace teamo::config
