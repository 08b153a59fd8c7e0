// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A JSON document as a tree. Each value knows its place in the text, so that errors beyond the syntax can
// name line and column too.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace teamo::json {

/// A place in the text; line and column from 1, columns in bytes. 0:0: not from a text.
struct Place {
    std::uint32_t line = 0, column = 0;
    bool operator==(const Place&) const = default;
};

class Value;
/// A template, because Value is complete only after its own members.
template <class Of>
struct BasicMember {
    std::string key;
    Of value;
    Place key_place{};
    bool operator==(const BasicMember& other) const { return key == other.key && value == other.value; }
};
using Member = BasicMember<Value>;
using Array = std::vector<Value>;
/// In the order written; keys are unique (parse refuses duplicates, as teamd does).
using Object = std::vector<Member>;

/// Null, a boolean, an integer (64 bits, as jansson has it), a real, a string, an array or an object.
/// Comparison ignores places.
class Value {
public:
    using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;

    Value() = default;
    // Not explicit: Value(Object{...}) and {"key", Object{...}} both read well.
    Value(std::nullptr_t) {}
    Value(bool value) : data_(value) {}
    Value(std::integral auto value) : data_(std::int64_t{value}) {}
    Value(double value) : data_(value) {}
    Value(const char* value) : data_(std::string(value)) {}
    Value(std::string value) : data_(std::move(value)) {}
    Value(std::string_view value) : data_(std::string(value)) {}
    Value(Array value) : data_(std::move(value)) {}
    Value(Object value) : data_(std::move(value)) {}

    const Data& data() const { return data_; }
    Data& data() { return data_; }
    Place place() const { return place_; }
    void set_place(Place place) { place_ = place; }

    const bool* boolean() const { return std::get_if<bool>(&data_); }
    const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data_); }
    const double* real() const { return std::get_if<double>(&data_); }
    const std::string* string() const { return std::get_if<std::string>(&data_); }
    const Array* array() const { return std::get_if<Array>(&data_); }
    Array* array() { return std::get_if<Array>(&data_); }
    const Object* object() const { return std::get_if<Object>(&data_); }
    Object* object() { return std::get_if<Object>(&data_); }

    /// The member of that exact name; nullptr if this is not an object or has no such member.
    const Value* find(std::string_view key) const;
    Value* find(std::string_view key);
    /// Sets or adds a member and returns it. A value that is not an object becomes one.
    Value& set(std::string_view key, Value value);
    /// Removes a member; false if there is none.
    bool erase(std::string_view key);

    bool operator==(const Value& other) const { return data_ == other.data_; }

private:
    Data data_;
    Place place_;
};

/// A counter; jansson has no unsigned integer.
inline Value counted(std::uint64_t count) { return static_cast<std::int64_t>(count); }

/// The nearest integer.
inline Value rounded(double figure) { return static_cast<std::int64_t>(std::llround(figure)); }

/// The type in words: "an object", "a string", …
std::string_view type_of(const Value& value);

} // namespace teamo::json
