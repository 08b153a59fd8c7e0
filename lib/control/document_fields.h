// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each struct in the state document has one list of its keys and members, a function:
//
//   constexpr auto thread_fields = [](auto field, auto& thread) {
//       field.cpu_text("affinity", thread.affinity);
//       field("pid", thread.pid);
//   };
//
// FieldWriter calls it to make the JSON object, FieldReader to read one. Both have the same functions. The
// reader accepts any document: a key that is absent or has another type reads as 0, false or empty.
#pragma once

#include "model/offload.h"
#include "json/fields.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

namespace teamo::control {

// ---- types that are written in one way only ----------------------------------------------------

inline json::Value to_json(bool value) { return value; }
inline void from_json(const json::Value& in, bool& value) {
    value = in.boolean() != nullptr && *in.boolean();
}

template <std::integral Number>
json::Value to_json(Number value) {
    return static_cast<std::int64_t>(value);
}
template <std::integral Number>
void from_json(const json::Value& in, Number& value) {
    const auto* number = in.integer();
    value = number != nullptr && std::in_range<Number>(*number) ? static_cast<Number>(*number) : Number{};
}

inline json::Value to_json(std::chrono::milliseconds value) { return value.count(); }
inline void from_json(const json::Value& in, std::chrono::milliseconds& value) {
    value = std::chrono::milliseconds(in.integer() == nullptr ? 0 : *in.integer());
}

inline json::Value to_json(const std::string& value) { return value; }
inline void from_json(const json::Value& in, std::string& value) { value = json::string_of(in); }

inline void from_json(const json::Value& in, FeatureNames& names) {
    if (const auto* list = in.array())
        for (const auto& name : *list)
            if (name.string() != nullptr) names.insert(*name.string());
}

template <std::ranges::range List>
json::Value to_json(const List& list) {
    json::Array array;
    for (const auto& element : list)
        array.push_back(to_json(element));
    return array;
}
/// An element of another type reads as empty or 0: its place in the list has a meaning.
template <class Element>
void from_json(const json::Value& in, std::vector<Element>& list) {
    if (in.array() == nullptr) return;
    for (const auto& element : *in.array())
        from_json(element, list.emplace_back());
}

template <class Element, std::size_t size>
void from_json(const json::Value& in, std::array<Element, size>& list) {
    if (in.array() == nullptr) return;
    for (std::size_t index = 0; index < std::min(size, in.array()->size()); ++index)
        from_json((*in.array())[index], list[index]);
}

// ---- objects -----------------------------------------------------------------------------------

template <class Type>
json::Value write_fields(const Type& value, const auto& fields);
template <class Type>
Type read_fields(const json::Value& in, const auto& fields);

class FieldWriter {
public:
    explicit FieldWriter(json::Object& out) : out_(out) {}

    void operator()(const char* key, const auto& value) { write_only(key, to_json(value)); }
    /// Not read back.
    void write_only(const char* key, json::Value value) { out_.push_back({key, std::move(value)}); }
    /// By functions of its own: json::Value write(value), void read(json::Value, value).
    void as(const char* key, const auto& value, auto write, auto) { write_only(key, write(value)); }

    void rounded(const char* key, double value) { write_only(key, json::rounded(value)); }
    /// One member of each element.
    template <class Element, std::size_t size>
    void rounded(const char* key, const std::array<Element, size>& list, double Element::* member) {
        array(key, list, [member](const Element& element) { return json::rounded(element.*member); });
    }
    /// A share, 1 is 100 per cent: with one decimal.
    void percent(const char* key, double share) { write_only(key, std::round(share * 1000) / 10); }
    void whole_percent(const char* key, double share) { rounded(key, 100 * share); }
    /// As name_of() has it. An unknown name reads as the first of `all`.
    template <class Enum>
    void name(const char* key, Enum value, std::initializer_list<Enum>) {
        write_only(key, name_of(value));
    }
    /// As the kernel writes it, "0-3,6": on a large machine a port may have hundreds of CPUs.
    void cpu_text(const char* key, const CpuList& cpus) { write_only(key, teamo::text_of(cpus)); }
    void cpu_text(const char* key, const std::vector<CpuList>& lists) {
        array(key, lists, [](const CpuList& cpus) { return teamo::text_of(cpus); });
    }

    void object(const char* key, const auto& value, const auto& fields) {
        write_only(key, write_fields(value, fields));
    }
    /// Absent if there is no value.
    template <class Type>
    void object(const char* key, const std::optional<Type>& value, const auto& fields) {
        if (value) object(key, *value, fields);
    }
    /// The same, by the functions of another document.
    void document(const char* key, const auto& optional, auto write, auto) {
        if (optional) write_only(key, write(*optional));
    }
    void list(const char* key, const auto& list, const auto& fields) {
        array(key, list, [&fields](const auto& element) { return write_fields(element, fields); });
    }
    /// An object of objects, whose keys are the elements' names.
    template <class Element>
    void by_name(const char* key, const std::vector<Element>& list, const auto& fields) {
        json::Object object;
        for (const auto& element : list)
            object.push_back({element.name, write_fields(element, fields)});
        write_only(key, std::move(object));
    }
    template <class Element>
    void by_name(const char* key, const std::map<std::string, Element>& map, const auto& fields) {
        json::Object object;
        for (const auto& [name, element] : map)
            object.push_back({name, write_fields(element, fields)});
        write_only(key, std::move(object));
    }
    /// Whether the list is left out of the document, because it is empty.
    static bool omits(const auto& list) { return list.empty(); }

private:
    void array(const char* key, const auto& list, auto write) {
        json::Array array;
        for (const auto& element : list)
            array.push_back(write(element));
        write_only(key, std::move(array));
    }

    json::Object& out_;
};

class FieldReader {
public:
    explicit FieldReader(const json::Value& in) : in_(in) {}

    void operator()(const char* key, auto& value) const { from_json(json::child(in_, key), value); }
    static void write_only(const char*, const json::Value&) {}
    void as(const char* key, auto& value, auto, auto read) const { read(json::child(in_, key), value); }

    void rounded(const char* key, double& value) const { value = number_of(json::child(in_, key)); }
    template <class Element, std::size_t size>
    void rounded(const char* key, std::array<Element, size>& list, double Element::* member) const {
        const auto& array = json::array(in_, key);
        for (std::size_t index = 0; index < std::min(size, array.size()); ++index)
            list[index].*member = number_of(array[index]);
    }
    void percent(const char* key, double& share) const {
        const auto& value = json::child(in_, key);
        share = (value.real() == nullptr ? number_of(value) : *value.real()) / 100;
    }
    void whole_percent(const char* key, double& share) const { percent(key, share); }
    template <class Enum>
    void name(const char* key, Enum& value, std::initializer_list<Enum> all) const {
        const auto text = json::text(in_, key);
        const auto* found = std::ranges::find_if(all, [&](Enum each) { return name_of(each) == text; });
        value = found == all.end() ? *all.begin() : *found;
    }
    void cpu_text(const char* key, CpuList& cpus) const { cpus = json::cpus(in_, key); }
    void cpu_text(const char* key, std::vector<CpuList>& lists) const {
        for (const auto& text : json::array(in_, key))
            lists.push_back(parse_cpu_list(json::string_of(text)).value_or(CpuList{}));
    }

    template <class Type>
    void object(const char* key, Type& value, const auto& fields) const {
        fields(FieldReader(json::child(in_, key)), value);
    }
    template <class Type>
    void object(const char* key, std::optional<Type>& value, const auto& fields) const {
        if (json::child(in_, key).object() != nullptr) object(key, value.emplace(), fields);
    }
    void document(const char* key, auto& optional, auto, auto read) const {
        if (const auto& in = json::child(in_, key); in.object() != nullptr) optional = read(in);
    }
    template <class Element>
    void list(const char* key, std::vector<Element>& list, const auto& fields) const {
        for (const auto& element : json::array(in_, key))
            list.push_back(read_fields<Element>(element, fields));
    }
    template <class Element>
    void by_name(const char* key, std::vector<Element>& list, const auto& fields) const {
        for (const auto& member : json::object(in_, key)) {
            list.push_back(read_fields<Element>(member.value, fields));
            list.back().name = member.key;
        }
    }
    template <class Element>
    void by_name(const char* key, std::map<std::string, Element>& map, const auto& fields) const {
        for (const auto& member : json::object(in_, key))
            map[member.key] = read_fields<Element>(member.value, fields);
    }
    static bool omits(const auto&) { return false; }

private:
    static double number_of(const json::Value& value) {
        return value.integer() == nullptr ? 0 : static_cast<double>(*value.integer());
    }

    const json::Value& in_;
};

template <class Type>
json::Value write_fields(const Type& value, const auto& fields) {
    json::Object object;
    fields(FieldWriter(object), value);
    return object;
}
template <class Type>
Type read_fields(const json::Value& in, const auto& fields) {
    Type value{};
    fields(FieldReader(in), value);
    return value;
}

} // namespace teamo::control
