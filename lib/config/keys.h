// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The table of all configuration keys. The reader and the suggestions for unknown keys use it; tests compare
// the manual and the examples with it.
#pragma once

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
    objects, ///< an array of objects, each with the members below this key
    watches, ///< a link watch, or an array of them
    ports,   ///< an object whose names are devices, each with the members of ports.PORTIFNAME
};
std::string_view name_of(Shape shape);

/// What to do about an invalid value, as teamd does: use the default, or do not start.
enum class Fault : std::uint8_t { tolerated, refused };

/// The default; monostate: none. The default of an array is its JSON text.
using Fallback = std::variant<std::monostate, bool, std::int64_t, std::string_view>;
std::string text_of(const Fallback& fallback);

struct Range {
    std::int64_t least = 0, most = 2147483647; ///< teamd keeps integers in a C int
};

struct Rules { // NOLINT(clang-analyzer-optin.performance.Padding): read as the table is written
    Shape shape;
    Fallback fallback{};
    Range range{};                               ///< of an integer
    std::span<const std::string_view> words{};   ///< valid strings, also for each in an array; empty: any
    std::span<const std::string_view> used_by{}; ///< the runners or link watches that read it; empty: all
    bool required = false;                       ///< by the runners or link watches in used_by
    Fault wrong_shape = Fault::tolerated;
    Fault wrong_value = Fault::refused;
    std::string_view members_of{}; ///< path of the key whose members this object has; empty: its own path
};

struct Key {
    std::string_view path; ///< as the manual writes it: "ports.PORTIFNAME.prio"
    Rules rules;
    std::string_view help;

    std::string_view name() const { return path.substr(path.rfind('.') + 1); }
    /// The path of its members in the table.
    std::string_view inner() const { return rules.members_of.empty() ? path : rules.members_of; }
    /// The path of the object that contains it; empty for the top level.
    std::string_view parent() const { return path.substr(0, path.rfind('.') + 1 == 0 ? 0 : path.rfind('.')); }
    bool is_used_by(std::string_view user) const;
    /// What to do about an invalid value of the right type. `user`: the runner or link watch in use.
    Fault value_fault(std::string_view user) const {
        return is_used_by(user) ? rules.wrong_value : Fault::tolerated;
    }
};

/// In the order of the manual.
std::span<const Key> keys();

/// The keys that an object at that path can have. A port's link watch has the keys of "link_watch".
std::vector<const Key*> members_of(std::string_view path);
/// The names of these keys as a user can write them, including all offload names.
std::vector<std::string_view> member_names(std::string_view path);

/// The key of that path, or nullptr.
const Key* find_key(std::string_view path);
/// Finds a key in an object. In "offload", every name of an offload gives the key "offload.FEATURE".
const Key* find_member(std::string_view parent, std::string_view name);

} // namespace teamo::config
