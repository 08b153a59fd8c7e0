// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/value.h"

#include "base/match.h"

#include <algorithm>

namespace teamo::json {

const Value* Value::find(std::string_view key) const {
    const auto* members = object();
    if (members == nullptr) return nullptr;
    const auto found = std::ranges::find(*members, key, &Member::key);
    return found == members->end() ? nullptr : &found->value;
}

Value* Value::find(std::string_view key) {
    auto* members = object();
    if (members == nullptr) return nullptr;
    const auto found = std::ranges::find(*members, key, &Member::key);
    return found == members->end() ? nullptr : &found->value;
}

Value& Value::set(std::string_view key, Value value) {
    if (auto* present = find(key)) return *present = std::move(value);
    if (object() == nullptr) data_ = Object{};
    return object()->emplace_back(Member{std::string(key), std::move(value), {}}).value;
}

bool Value::erase(std::string_view key) {
    auto* members = object();
    return members != nullptr &&
           std::erase_if(*members, [key](const Member& member) { return member.key == key; }) > 0;
}

bool Value::operator==(const Value& other) const { return data_ == other.data_; }

std::string_view type_of(const Value& value) {
    return std::visit(Match{
                          [](std::nullptr_t) { return std::string_view("null"); },
                          [](bool) { return std::string_view("a boolean"); },
                          [](std::int64_t) { return std::string_view("an integer"); },
                          [](double) { return std::string_view("a real number"); },
                          [](const std::string&) { return std::string_view("a string"); },
                          [](const Array&) { return std::string_view("an array"); },
                          [](const Object&) { return std::string_view("an object"); },
                      },
                      value.data());
}

} // namespace teamo::json
