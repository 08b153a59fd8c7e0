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
// member as it is, and a value of another type, or out of its range, is an error. read_versioned() is for
// files that a later version of this program may have written.
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
    /// The same. Of a later version's file an element stays although one of its members is not known.
    void records(const char* key, const auto& list, const auto& fields) { this->list(key, list, fields); }
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

/// What a document has that its reader does not know.
struct Faults {
    std::string first{};     ///< for the user
    bool is_lenient = false; ///< a member with a fault stays as it was; an element of a list is left out
    unsigned values = 0, requirements = 0; ///< so many, without those of elements that were left out
};

class FieldReader {
public:
    /// nullptr: read_fields().
    explicit FieldReader(const Value& in, Faults* faults = nullptr) : in_(in), faults_(faults) {}

    void operator()(const char* key, auto& value) const {
        set(key, value, [&](auto& into) { return from_json(child(in_, key), into); });
    }
    template <class Type>
    void operator()(const char* key, std::optional<Type>& value) const {
        fill(key, value, [&](Type& into) { (*this)(key, into); });
    }
    static void write_only(const char*, const Value&) {}
    void as(const char* key, auto& value, auto, auto read) const {
        if (skips(key)) return;
        if constexpr (std::is_same_v<decltype(read(child(in_, key), value)), bool>)
            set(key, value, [&](auto& into) { return read(child(in_, key), into); });
        else
            read(child(in_, key), value);
    }
    template <class Type>
    void text(const char* key, Type& value, auto parse) const {
        set(key, value, [&](Type& into) {
            auto parsed = parse(json::text(in_, key));
            into = parsed ? std::move(*parsed) : Type{};
            return parsed.has_value();
        });
    }
    template <class Type>
    void text(const char* key, std::optional<Type>& value, auto parse) const {
        fill(key, value, [&](Type& into) { text(key, into, parse); });
    }

    void amount(const char* key, auto& value) const {
        (*this)(key, value);
        if (faults_ == nullptr || value >= 0) return;
        note(fmt::format("\"{}\": {} is negative", key, value));
        value = {};
    }
    template <class Type>
    void amount(const char* key, std::optional<Type>& value) const {
        fill(key, value, [&](Type& into) { amount(key, into); });
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
        if (in_.find(key) != nullptr) name(key, value);
    }
    void cpu_text(const char* key, CpuList& cpus) const { text(key, cpus, parse_cpu_list); }
    void cpu_text(const char* key, std::vector<CpuList>& lists) const {
        for (const auto& text : json::array(in_, key))
            lists.push_back(parse_cpu_list(string_of(text)).value_or(CpuList{}));
    }

    template <class Type>
    void object(const char* key, Type& value, const auto& fields) const {
        if (!skips(key)) fields(FieldReader(child(in_, key), faults_), value);
    }
    template <class Type>
    void object(const char* key, std::optional<Type>& value, const auto& fields) const {
        if (child(in_, key).object() == nullptr) return;
        fill(key, value, [&](Type& into) { object(key, into, fields); });
    }
    void document(const char* key, auto& optional, auto, auto read) const {
        if (const auto& in = child(in_, key); in.object() != nullptr) optional = read(in);
    }
    template <class Element>
    void list(const char* key, std::vector<Element>& list, const auto& fields) const {
        elements(key, list, fields, /*is_record=*/false);
    }
    template <class Element>
    void records(const char* key, std::vector<Element>& list, const auto& fields) const {
        elements(key, list, fields, /*is_record=*/true);
    }
    template <class Key, class Element, class Order>
    void pairs(const char* key, std::map<Key, Element, Order>& map, const auto& fields) const {
        for (const auto& each : json::array(in_, key)) {
            Key name{};
            Element value{};
            if (is_whole(each, false, [&](const FieldReader& reader) { fields(reader, name, value); }))
                map.insert_or_assign(std::move(name), std::move(value));
        }
    }
    template <class Element>
    void by_name(const char* key, std::vector<Element>& list, const auto& fields) const {
        for (const auto& member : json::object(in_, key)) {
            fields(FieldReader(member.value, faults_), list.emplace_back());
            list.back().name = member.key;
        }
    }
    template <class Key, class Element>
    void by_name(const char* key, std::map<Key, Element>& map, const auto& fields) const {
        for (const auto& member : json::object(in_, key))
            if (const auto name = key_named<Key>(member.key))
                fields(FieldReader(member.value, faults_), map[*name]);
            else
                note(fmt::format("\"{}\": \"{}\" is not a number", key, member.key));
    }
    static bool omits(const auto&) { return false; }
    void require(bool holds, const char* what) const {
        if (holds) return;
        note(what);
        if (faults_ != nullptr) ++faults_->requirements;
    }

private:
    bool skips(const char* key) const { return faults_ != nullptr && in_.find(key) == nullptr; }
    bool is_lenient() const { return faults_ != nullptr && faults_->is_lenient; }
    /// `parse` sets the value, and returns whether the document has one.
    template <class Type>
    void set(const char* key, Type& value, auto parse) const {
        if (skips(key)) return;
        if (!is_lenient()) return judge(key, parse(value));
        auto known = value;
        const bool fits = parse(known);
        judge(key, fits);
        if (fits) value = std::move(known);
    }
    template <class Type>
    void fill(const char* key, std::optional<Type>& value, auto read) const {
        if (in_.find(key) == nullptr) return;
        const auto before = is_lenient() ? faults_->values : 0;
        read(value.emplace());
        if (is_lenient() && faults_->values > before) value.reset();
    }
    /// Whether an element of a list, which `read` reads, is to stay.
    bool is_whole(const Value& element, bool is_record, auto read) const {
        if (!is_lenient()) {
            read(FieldReader(element, faults_));
            return true;
        }
        Faults inside{.is_lenient = true};
        const FieldReader reader(element, &inside);
        read(reader);
        reader.require(element.object() != nullptr, "an element of a list that is no object");
        if (faults_->first.empty()) faults_->first = inside.first;
        return inside.requirements == 0 && (is_record || inside.values == 0);
    }
    template <class Element>
    void elements(const char* key, std::vector<Element>& list, const auto& fields, bool is_record) const {
        for (const auto& each : json::array(in_, key)) {
            auto& value = list.emplace_back();
            if (!is_whole(each, is_record, [&](const FieldReader& reader) { fields(reader, value); }))
                list.pop_back();
        }
    }
    void judge(const char* key, bool fits) const {
        if (fits || faults_ == nullptr) return;
        const auto& value = child(in_, key);
        note(value.integer() != nullptr
                 ? fmt::format("\"{}\": {} is out of range", key, *value.integer())
                 : fmt::format("\"{}\": {} that is not valid here", key, type_of(value)));
    }
    void note(std::string text) const {
        if (faults_ == nullptr) return;
        ++faults_->values;
        if (faults_->first.empty()) faults_->first = std::move(text);
    }

    const Value& in_;
    Faults* faults_;
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
    Faults faults;
    fields(FieldReader(in, &faults), value);
    if (!faults.first.empty()) return fail(EBADMSG, faults.first);
    return value;
}
/// Of a file with a "version" (docs/adr/0046). Version 1 is read strictly, of a later one what is known. Then
/// `later` says so, for the user.
template <class Type>
Result<Type> read_versioned(const Value& in, const auto& fields, std::string* later = nullptr) {
    const auto version = number(in, "version");
    if (version < 1) return fail(EBADMSG, "no valid \"version\" in the file");
    if (version == 1) return read_strictly<Type>(in, fields);
    Type value{};
    Faults faults{.is_lenient = true};
    fields(FieldReader(in, &faults), value);
    if (faults.requirements > 0) return fail(EBADMSG, faults.first);
    if (later != nullptr)
        *later = fmt::format(
            "a later version of teamd-offload wrote it; what this one does not know is left out{}{}",
            faults.first.empty() ? "" : ", first ", faults.first);
    return value;
}

} // namespace teamo::json
