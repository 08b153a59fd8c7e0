// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads JSON documents: the state of a team, its journal.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace teamo::soak {

using Document = rapidjson::Document;

inline std::optional<Document> parsed(const std::string& text) {
    Document document;
    document.Parse(text.c_str());
    if (document.HasParseError() || !document.IsObject()) return {};
    return document;
}
inline std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Values by their JSON pointer: false, 0 and "" if there is none.
inline const rapidjson::Value* find(const Document& in, const std::string& pointer) {
    return rapidjson::Pointer(pointer.c_str()).Get(in);
}
inline bool is_true(const Document& in, const std::string& pointer) {
    const auto* value = find(in, pointer);
    return value != nullptr && value->IsBool() && value->GetBool();
}
inline std::uint64_t number_of(const Document& in, const std::string& pointer) {
    const auto* value = find(in, pointer);
    return value != nullptr && value->IsUint64() ? value->GetUint64() : 0;
}
inline std::string text_at(const Document& in, const std::string& pointer) {
    const auto* value = find(in, pointer);
    return value != nullptr && value->IsString() ? value->GetString() : "";
}

} // namespace teamo::soak
