// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Types that are written in one way only. from_json() returns false if the value is no such one.
#pragma once

#include "base/name_set.h"
#include "base/named.h"
#include "base/whole_number.h"
#include "json/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace teamo::json {

inline Value to_json(bool value) { return value; }
inline bool from_json(const Value& in, bool& value) {
    value = in.boolean() != nullptr && *in.boolean();
    return in.boolean() != nullptr;
}

template <std::integral Number>
Value to_json(Number value) {
    return static_cast<std::int64_t>(value);
}
template <std::integral Number>
bool from_json(const Value& in, Number& value) {
    const auto* number = in.integer();
    const bool fits = number != nullptr && std::in_range<Number>(*number);
    value = fits ? static_cast<Number>(*number) : Number{};
    return fits;
}

inline Value to_json(double value) { return value; }
/// Other programs write 1 for 1.0.
inline bool from_json(const Value& in, double& value) {
    value = in.real() != nullptr      ? *in.real()
            : in.integer() != nullptr ? static_cast<double>(*in.integer())
                                      : 0;
    return in.real() != nullptr || in.integer() != nullptr;
}

inline Value to_json(std::chrono::milliseconds value) { return value.count(); }
inline bool from_json(const Value& in, std::chrono::milliseconds& value) {
    value = std::chrono::milliseconds(in.integer() == nullptr ? 0 : *in.integer());
    return in.integer() != nullptr;
}

inline Value to_json(const std::string& value) { return value; }
inline Value to_json(std::string_view value) { return std::string(value); }
inline bool from_json(const Value& in, std::string& value) {
    value = string_of(in);
    return in.string() != nullptr;
}

template <class Tag, class Rep>
Value to_json(Named<Tag, Rep> value) {
    return to_json(value.value);
}
template <class Tag, class Rep>
bool from_json(const Value& in, Named<Tag, Rep>& value) {
    return from_json(in, value.value);
}

template <std::ranges::range List>
Value to_json(const List& list) {
    Array array;
    for (const auto& element : list)
        array.push_back(to_json(element));
    return array;
}
/// An element of another type reads as empty or 0: its place in the list has a meaning.
template <class Element>
bool from_json(const Value& in, std::vector<Element>& list) {
    if (in.array() == nullptr) return false;
    bool fits = true;
    for (const auto& element : *in.array())
        fits = from_json(element, list.emplace_back()) && fits;
    return fits;
}
template <class Element, std::size_t size>
bool from_json(const Value& in, std::array<Element, size>& list) {
    if (in.array() == nullptr) return false;
    bool fits = in.array()->size() == size;
    for (std::size_t index = 0; index < std::min(size, in.array()->size()); ++index)
        fits = from_json((*in.array())[index], list[index]) && fits;
    return fits;
}
template <class Element, class Order>
bool from_json(const Value& in, std::set<Element, Order>& set) {
    if (in.array() == nullptr) return false;
    bool fits = true;
    for (const auto& value : *in.array()) {
        Element element{};
        if (from_json(value, element))
            set.insert(std::move(element));
        else
            fits = false;
    }
    return fits;
}

inline bool from_json(const Value& in, NameSet& set) {
    std::vector<std::string> names;
    const bool fits = from_json(in, names);
    set = NameSet(names.begin(), names.end());
    return fits;
}

/// The key of a map as the name of a member; none: it is no number.
template <class Key>
std::optional<Key> key_named(const std::string& name) {
    if constexpr (std::is_same_v<Key, std::string>)
        return name;
    else
        return whole_number<Key>(name);
}

template <class Key, class Element, class Order>
Value to_json(const std::map<Key, Element, Order>& map) {
    Object object;
    for (const auto& [key, element] : map)
        object.push_back({fmt::format("{}", key), to_json(element)});
    return object;
}
template <class Key, class Element, class Order>
bool from_json(const Value& in, std::map<Key, Element, Order>& map) {
    if (in.object() == nullptr) return false;
    bool fits = true;
    for (const auto& member : *in.object()) {
        const auto key = key_named<Key>(member.key);
        fits = key && from_json(member.value, map[*key]) && fits;
    }
    return fits;
}

} // namespace teamo::json
