// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads members of JSON objects. A missing value, or one of another type, reads as an empty value.
#pragma once

#include "base/cpu_list.h"
#include "json/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::json {

inline const Value& child(const Value& in, std::string_view key) {
    static const Value none;
    const auto* found = in.find(key);
    return found == nullptr ? none : *found;
}

inline std::string string_of(const Value& value) { return value.string() == nullptr ? "" : *value.string(); }

inline std::string text(const Value& in, std::string_view key) { return string_of(child(in, key)); }

inline std::int64_t number(const Value& in, std::string_view key) {
    const auto* found = child(in, key).integer();
    return found == nullptr ? 0 : *found;
}

/// A number that is never negative; a negative one reads as 0.
inline std::uint64_t count(const Value& in, std::string_view key) {
    const auto value = number(in, key);
    return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

inline bool flag(const Value& in, std::string_view key) {
    const auto* found = child(in, key).boolean();
    return found != nullptr && *found;
}

inline CpuList cpus(const Value& in, std::string_view key) {
    return parse_cpu_list(text(in, key)).value_or(CpuList{});
}

inline const Array& array(const Value& in, std::string_view key) {
    static const Array none;
    const auto* found = child(in, key).array();
    return found == nullptr ? none : *found;
}

inline const Object& object(const Value& in, std::string_view key) {
    static const Object none;
    const auto* found = child(in, key).object();
    return found == nullptr ? none : *found;
}

/// Converts each element of an array with `read`.
template <class Element, class Read>
std::vector<Element> list(const Value& in, std::string_view key, Read read) {
    std::vector<Element> elements;
    for (const auto& element : array(in, key))
        elements.push_back(read(element));
    return elements;
}

} // namespace teamo::json
