// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include <fstream>
#include <sstream>
#include <string>

namespace teamo::test {

/// The schema that we ship allows members that it does not have, as a later version may add them. In tests it
/// does not.
inline void close_objects(rapidjson::Value& schema, rapidjson::Document::AllocatorType& memory) {
    if (schema.IsArray())
        for (auto& element : schema.GetArray())
            close_objects(element, memory);
    if (!schema.IsObject()) return;
    for (rapidjson::SizeType number = 0; number < schema.MemberCount(); ++number)
        close_objects((schema.MemberBegin() + static_cast<std::ptrdiff_t>(number))->value, memory);
    if (schema.HasMember("type") && schema.HasMember("properties"))
        schema.AddMember("additionalProperties", false, memory);
}

inline const rapidjson::SchemaDocument& state_schema() {
    static const rapidjson::SchemaDocument schema = [] {
        std::stringstream text;
        text << std::ifstream(TEAMO_SOURCE_DIR "/packaging/schema/teamd-offload.state.schema.json").rdbuf();
        rapidjson::Document document;
        document.Parse(text.str().c_str());
        close_objects(document, document.GetAllocator());
        return rapidjson::SchemaDocument(document);
    }();
    return schema;
}

/// What the schema does not allow in a state document: the place and the rule; empty: all is allowed.
inline std::string fault_of_state(const std::string& text) {
    rapidjson::Document document;
    if (document.Parse(text.c_str()).HasParseError()) return "it is not JSON";
    rapidjson::SchemaValidator validator(state_schema());
    if (document.Accept(validator)) return "";
    rapidjson::StringBuffer place, rule;
    validator.GetInvalidDocumentPointer().StringifyUriFragment(place);
    validator.GetInvalidSchemaPointer().StringifyUriFragment(rule);
    return std::string(place.GetString()) + ": " + validator.GetInvalidSchemaKeyword() + " of " +
           rule.GetString();
}

} // namespace teamo::test
