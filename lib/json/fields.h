// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads members of JSON objects. A missing value, or one of another type, reads as an empty value.
#pragma once

#include "json/value.h"

#include <cstdint>
#include <string>
#include <string_view>

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

inline bool flag(const Value& in, std::string_view key) {
    const auto* found = child(in, key).boolean();
    return found != nullptr && *found;
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

} // namespace teamo::json
