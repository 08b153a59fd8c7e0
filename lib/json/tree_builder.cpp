// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/tree_builder.h"

#include "json/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace teamo::json {
namespace {

/// The first member, in the order written, with a name that occurred before; nullptr if there is none. Sorts,
/// because a megabyte can hold 100,000 members.
const Member* first_duplicate(const Object& object) {
    std::vector<const Member*> members;
    members.reserve(object.size());
    for (const auto& member : object)
        members.push_back(&member);
    const auto name = [](const Member* member) { return std::string_view(member->key); };
    std::ranges::stable_sort(members, {}, name);

    const Member* first = nullptr;
    for (std::size_t index = 1; index < members.size(); ++index)
        if (members[index]->key == members[index - 1]->key && (first == nullptr || members[index] < first))
            first = members[index];
    return first;
}

} // namespace

std::size_t TreeBuilder::token_begin() const {
    return std::min(text_.find_first_not_of(" \t\r\n,:", token_end_), text_.size());
}

bool TreeBuilder::refuse(Place place, std::string text) {
    error_ = SyntaxError{place, std::move(text)};
    return false;
}

bool TreeBuilder::RawNumber(const char*, rapidjson::SizeType, bool) {
    const auto begin = token_begin();
    const auto number = text_.substr(begin, stream_.Tell() - begin);
    const auto* end = number.data() + number.size();
    if (number.find_first_of(".eE") == std::string_view::npos) {
        std::int64_t integer = 0;
        if (std::from_chars(number.data(), end, integer).ec != std::errc{})
            return refuse(place_of(begin), fmt::format("the integer {} does not fit 64 bits",
                                                       printable(number.substr(0, 40))));
        return scalar(integer);
    }
    // Not strtod, which depends on the locale. If a double is out of range, long double shows whether the
    // number is too big, which jansson refuses, or too small, which jansson reads as 0.
    double real = 0.0;
    if (std::from_chars(number.data(), end, real).ec == std::errc::result_out_of_range) {
        long double wide = 0.0L;
        static_cast<void>(std::from_chars(number.data(), end, wide));
        real = static_cast<double>(wide);
    }
    if (!std::isfinite(real)) return refuse(place_of(begin), "the number is too big");
    return scalar(real);
}

// A NUL would end the string early in every C interface, and half a surrogate pair is not a character.
// jansson refuses both; RapidJSON accepts \u0000 and a lone \udc00.
bool TreeBuilder::has_valid_characters(std::string_view string) {
    if (string.find('\0') != std::string_view::npos)
        return refuse(place_of(token_begin()), "\\u0000 is not allowed in a string");
    for (auto at = string.find('\xED'); at != std::string_view::npos; at = string.find('\xED', at + 1))
        if (static_cast<unsigned char>(string[at + 1]) >= 0xA0)
            return refuse(place_of(token_begin()), "half a surrogate pair is not a character");
    return true;
}

bool TreeBuilder::String(const char* bytes, rapidjson::SizeType size, bool) {
    const std::string_view string(bytes, size);
    return has_valid_characters(string) && scalar(std::string(string));
}

bool TreeBuilder::Key(const char* bytes, rapidjson::SizeType size, bool) {
    const std::string_view string(bytes, size);
    if (!has_valid_characters(string)) return false;
    open_.back().key = string;
    open_.back().key_place = place_of(token_begin());
    token_end_ = stream_.Tell();
    return true;
}

bool TreeBuilder::scalar(Value value) {
    const auto place = place_of(token_begin());
    if (open_.empty())
        return refuse(place, fmt::format("an object or an array is expected, not {}", type_of(value)));
    value.set_place(place);
    token_end_ = stream_.Tell();
    return add(std::move(value));
}

bool TreeBuilder::open(Value container) {
    const auto begin = token_begin();
    container.set_place(place_of(begin));
    if (open_.size() == limits_.depth)
        return refuse(container.place(),
                      fmt::format("objects and arrays are nested more than {} deep", limits_.depth));
    token_end_ = begin + 1;
    open_.push_back({std::move(container), {}, {}});
    return true;
}

bool TreeBuilder::EndObject(rapidjson::SizeType) {
    if (const auto* member = first_duplicate(*open_.back().container.object()))
        return refuse(member->key_place,
                      fmt::format("this object has the name {} twice", quote(member->key)));
    return close();
}

bool TreeBuilder::close() {
    token_end_ = token_begin() + 1;
    auto container = std::move(open_.back().container);
    open_.pop_back();
    return add(std::move(container));
}

bool TreeBuilder::add(Value value) {
    if (open_.empty()) {
        root_ = std::move(value);
        return true;
    }
    auto& [container, key, key_place] = open_.back();
    if (auto* array = container.array())
        array->push_back(std::move(value));
    else
        container.object()->push_back({std::move(key), std::move(value), key_place});
    return true;
}

} // namespace teamo::json
