// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A struct that is written as a JSON object, or read from one, has one list of its keys and members, a
// function:
//
//   constexpr auto thread_fields = [](auto field, auto& thread) {
//       field.cpu_text("affinity", thread.affinity);
//       field("pid", thread.pid);
//   };
//
// FieldWriter calls it to make the object, FieldReader to read one. Both have the same functions.
//
// read_fields() accepts any document, for what another version may have written: a key that is absent or has
// another type reads as 0, false or empty. read_strictly() is for files: a key that is absent leaves its
// member as it is, and a value of another type, or out of its range, is an error.
#pragma once

#include "base/cpu_list.h"
#include "base/result.h"
#include "json/types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace teamo::json {

template <class Type>
Value write_fields(const Type& value, const auto& fields);

class FieldWriter {
public:
    explicit FieldWriter(Object& out) : out_(out) {}

    void operator()(const char* key, const auto& value) { write_only(key, to_json(value)); }
    /// Absent if there is no value.
    template <class Type>
    void operator()(const char* key, const std::optional<Type>& value) {
        if (value) (*this)(key, *value);
    }
    /// Not read back.
    void write_only(const char* key, Value value) { out_.push_back({key, std::move(value)}); }
    /// By functions of its own: Value write(value), and read(Value, value), which returns nothing, or whether
    /// the value was one.
    void as(const char* key, const auto& value, auto write, auto) { write_only(key, write(value)); }
    /// As text_of() has it; `parse` reads it.
    void text(const char* key, const auto& value, auto) { write_only(key, text_of(value)); }
    template <class Type>
    void text(const char* key, const std::optional<Type>& value, auto) {
        if (value) write_only(key, text_of(*value));
    }

    /// Not negative.
    void amount(const char* key, const auto& value) { (*this)(key, value); }
    void rounded(const char* key, double value) { write_only(key, json::rounded(value)); }
    /// One member of each element.
    template <class Element, std::size_t size>
    void rounded(const char* key, const std::array<Element, size>& list, double Element::* member) {
        array(key, list, [member](const Element& element) { return json::rounded(element.*member); });
    }
    /// A share, 1 is 100 per cent: with one decimal.
    void percent(const char* key, double share) { write_only(key, std::round(share * 1000) / 10); }
    void whole_percent(const char* key, double share) { rounded(key, 100 * share); }
    /// As name_of() has it. An unknown name leaves the value as it is.
    void name(const char* key, auto value) { write_only(key, name_of(value)); }
    /// `absent`: what it is without the key.
    template <class Enum>
    void name(const char* key, Enum value, Enum /*absent*/) {
        name(key, value);
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
    /// A list of objects, each with the key and the value of a map: fields(field, key, value).
    void pairs(const char* key, const auto& map, const auto& fields) {
        array(key, map, [&fields](const auto& pair) {
            Object object;
            fields(FieldWriter(object), pair.first, pair.second);
            return object;
        });
    }
    /// An object of objects, whose keys are the elements' names.
    template <class Element>
    void by_name(const char* key, const std::vector<Element>& list, const auto& fields) {
        Object object;
        for (const auto& element : list)
            object.push_back({element.name, write_fields(element, fields)});
        write_only(key, std::move(object));
    }
    /// The same, whose keys are those of the map.
    template <class Key, class Element>
    void by_name(const char* key, const std::map<Key, Element>& map, const auto& fields) {
        Object object;
        for (const auto& [name, element] : map)
            object.push_back({fmt::format("{}", name), write_fields(element, fields)});
        write_only(key, std::move(object));
    }
    /// Whether the list is left out of the document, because it is empty.
    static bool omits(const auto& list) { return list.empty(); }
    /// What must be true of what was read; `what` is the error otherwise.
    static void require(bool, const char*) {}

private:
    void array(const char* key, const auto& list, auto write) {
        Array array;
        for (const auto& element : list)
            array.push_back(write(element));
        write_only(key, std::move(array));
    }

    Object& out_;
};

class FieldReader {
public:
    /// `fault`: takes the first error of read_strictly(); nullptr: read_fields().
    explicit FieldReader(const Value& in, std::string* fault = nullptr) : in_(in), fault_(fault) {}

    void operator()(const char* key, auto& value) const {
        if (!skips(key)) judge(key, from_json(child(in_, key), value));
    }
    template <class Type>
    void operator()(const char* key, std::optional<Type>& value) const {
        if (in_.find(key) != nullptr) (*this)(key, value.emplace());
    }
    static void write_only(const char*, const Value&) {}
    void as(const char* key, auto& value, auto, auto read) const {
        if (skips(key)) return;
        if constexpr (std::is_same_v<decltype(read(child(in_, key), value)), bool>)
            judge(key, read(child(in_, key), value));
        else
            read(child(in_, key), value);
    }
    template <class Type>
    void text(const char* key, Type& value, auto parse) const {
        if (skips(key)) return;
        auto parsed = parse(json::text(in_, key));
        judge(key, parsed.has_value());
        value = parsed ? std::move(*parsed) : Type{};
    }
    template <class Type>
    void text(const char* key, std::optional<Type>& value, auto parse) const {
        if (in_.find(key) != nullptr) text(key, value.emplace(), parse);
    }

    void amount(const char* key, auto& value) const {
        (*this)(key, value);
        if (fault_ != nullptr && value < 0) note(fmt::format("\"{}\": {} is negative", key, value));
    }
    template <class Type>
    void amount(const char* key, std::optional<Type>& value) const {
        if (in_.find(key) != nullptr) amount(key, value.emplace());
    }
    void rounded(const char* key, double& value) const { (*this)(key, value); }
    template <class Element, std::size_t size>
    void rounded(const char* key, std::array<Element, size>& list, double Element::* member) const {
        const auto& array = json::array(in_, key);
        for (std::size_t index = 0; index < std::min(size, array.size()); ++index)
            from_json(array[index], list[index].*member);
    }
    void percent(const char* key, double& share) const {
        (*this)(key, share);
        share /= 100;
    }
    void whole_percent(const char* key, double& share) const { percent(key, share); }
    template <class Enum>
    void name(const char* key, Enum& value) const {
        if (skips(key)) return;
        const auto text = json::text(in_, key);
        const auto found = named<Enum>(text);
        value = found.value_or(value);
        if (!found) note(fmt::format("\"{}\": unknown word \"{}\"", key, text));
    }
    template <class Enum>
    void name(const char* key, Enum& value, Enum absent) const {
        value = absent;
        name(key, value);
    }
    void cpu_text(const char* key, CpuList& cpus) const { text(key, cpus, parse_cpu_list); }
    void cpu_text(const char* key, std::vector<CpuList>& lists) const {
        for (const auto& text : json::array(in_, key))
            lists.push_back(parse_cpu_list(string_of(text)).value_or(CpuList{}));
    }

    template <class Type>
    void object(const char* key, Type& value, const auto& fields) const {
        if (!skips(key)) fields(FieldReader(child(in_, key), fault_), value);
    }
    template <class Type>
    void object(const char* key, std::optional<Type>& value, const auto& fields) const {
        if (child(in_, key).object() != nullptr) object(key, value.emplace(), fields);
    }
    void document(const char* key, auto& optional, auto, auto read) const {
        if (const auto& in = child(in_, key); in.object() != nullptr) optional = read(in);
    }
    template <class Element>
    void list(const char* key, std::vector<Element>& list, const auto& fields) const {
        for (const auto& element : json::array(in_, key))
            fields(FieldReader(element, fault_), list.emplace_back());
    }
    template <class Key, class Element, class Order>
    void pairs(const char* key, std::map<Key, Element, Order>& map, const auto& fields) const {
        for (const auto& each : json::array(in_, key)) {
            Key name{};
            Element element{};
            fields(FieldReader(each, fault_), name, element);
            map.insert_or_assign(std::move(name), std::move(element));
        }
    }
    template <class Element>
    void by_name(const char* key, std::vector<Element>& list, const auto& fields) const {
        for (const auto& member : json::object(in_, key)) {
            fields(FieldReader(member.value, fault_), list.emplace_back());
            list.back().name = member.key;
        }
    }
    template <class Key, class Element>
    void by_name(const char* key, std::map<Key, Element>& map, const auto& fields) const {
        for (const auto& member : json::object(in_, key))
            if (const auto name = key_named<Key>(member.key))
                fields(FieldReader(member.value, fault_), map[*name]);
            else
                note(fmt::format("\"{}\": \"{}\" is not a number", key, member.key));
    }
    static bool omits(const auto&) { return false; }
    void require(bool holds, const char* what) const {
        if (!holds) note(what);
    }

private:
    bool skips(const char* key) const { return fault_ != nullptr && in_.find(key) == nullptr; }
    void judge(const char* key, bool fits) const {
        if (fits || fault_ == nullptr) return;
        const auto& value = child(in_, key);
        note(value.integer() != nullptr
                 ? fmt::format("\"{}\": {} is out of range", key, *value.integer())
                 : fmt::format("\"{}\": {} that is not valid here", key, type_of(value)));
    }
    void note(std::string text) const {
        if (fault_ != nullptr && fault_->empty()) *fault_ = std::move(text);
    }

    const Value& in_;
    std::string* fault_;
};

template <class Type>
Value write_fields(const Type& value, const auto& fields) {
    Object object;
    fields(FieldWriter(object), value);
    return object;
}
template <class Type>
Type read_fields(const Value& in, const auto& fields) {
    Type value{};
    fields(FieldReader(in), value);
    return value;
}
/// EBADMSG: what is wrong, with its key.
template <class Type>
Result<Type> read_strictly(const Value& in, const auto& fields) {
    Type value{};
    std::string fault;
    fields(FieldReader(in, &fault), value);
    if (!fault.empty()) return fail(EBADMSG, fault);
    return value;
}

} // namespace teamo::json
