// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reading what lib/control has written: what is missing, or of another kind, reads as nothing.
#pragma once

#include "base/cpu_list.h"
#include "json/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::ctl {

inline const json::Value& child(const json::Value& in, std::string_view key) {
    static const json::Value none;
    const auto* found = in.find(key);
    return found == nullptr ? none : *found;
}

inline std::string string_of(const json::Value& value) {
    return value.string() == nullptr ? "" : *value.string();
}

inline std::string text(const json::Value& in, std::string_view key) { return string_of(child(in, key)); }

inline std::int64_t number(const json::Value& in, std::string_view key) {
    const auto* found = child(in, key).integer();
    return found == nullptr ? 0 : *found;
}

inline bool flag(const json::Value& in, std::string_view key) {
    const auto* found = child(in, key).boolean();
    return found != nullptr && *found;
}

inline CpuList cpus(const json::Value& in, std::string_view key) {
    return parse_cpu_list(text(in, key)).value_or(CpuList{});
}

/// Each element of an array, by a function of it.
template <class Element, class Read>
std::vector<Element> list(const json::Value& in, std::string_view key, Read read) {
    std::vector<Element> elements;
    if (const auto* array = child(in, key).array())
        for (const auto& element : *array)
            elements.push_back(read(element));
    return elements;
}

} // namespace teamo::ctl
