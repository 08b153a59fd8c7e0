// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "json/parse.h"

#include <rapidjson/memorystream.h>

#include <optional>

namespace teamo::json {

/// Line and column of an offset. Asked in rising order it reads the text once.
class PlaceFinder {
public:
    explicit PlaceFinder(std::string_view text) : text_(text) {}

    Place place_of(std::size_t offset) {
        if (offset < counted_) *this = PlaceFinder(text_);
        for (; counted_ < offset && counted_ < text_.size(); ++counted_) {
            if (text_[counted_] != '\n') continue;
            ++line_;
            line_begin_ = counted_ + 1;
        }
        return {line_, static_cast<std::uint32_t>(counted_ - line_begin_ + 1)};
    }

private:
    std::string_view text_;
    std::size_t counted_ = 0, line_begin_ = 0;
    std::uint32_t line_ = 1;
};

/// Makes the tree from RapidJSON's events (SAX), and refuses what RapidJSON would let pass and jansson
/// does not. RapidJSON's events come without a place: a token begins at the first byte after the last one
/// that is no blank and no separator.
class TreeBuilder {
public:
    TreeBuilder(std::string_view text, const rapidjson::MemoryStream& stream, Limits limits)
        : text_(text), stream_(stream), limits_(limits), places_(text) {}

    // NOLINTBEGIN(readability-identifier-naming): the names are RapidJSON's
    bool Null() { return scalar(nullptr); }
    bool Bool(bool value) { return scalar(value); }
    bool RawNumber(const char*, rapidjson::SizeType, bool);
    bool String(const char* bytes, rapidjson::SizeType size, bool);
    bool Key(const char* bytes, rapidjson::SizeType size, bool);
    bool StartObject() { return open(Object{}); }
    bool StartArray() { return open(Array{}); }
    bool EndObject(rapidjson::SizeType);
    bool EndArray(rapidjson::SizeType) { return close(); }

    // Never called, as numbers come as text (kParseNumbersAsStringsFlag), but RapidJSON requires them.
    bool Int(int) { return false; }
    bool Uint(unsigned) { return false; }
    bool Int64(std::int64_t) { return false; }
    bool Uint64(std::uint64_t) { return false; }
    bool Double(double) { return false; }
    // NOLINTEND(readability-identifier-naming)

    /// The offset of the next token, or of the unfinished one.
    std::size_t token_begin() const;
    Place place_of(std::size_t offset) { return places_.place_of(offset); }

    const std::optional<SyntaxError>& error() const { return error_; }
    Value take() { return std::move(root_); }

private:
    struct Open {
        Value container;
        std::string key; ///< of the member that is being read
        Place key_place;
    };

    bool refuse(Place place, std::string text);
    bool scalar(Value value);
    bool open(Value container);
    bool close();
    bool add(Value value);
    bool has_valid_characters(std::string_view string);

    std::string_view text_;
    const rapidjson::MemoryStream& stream_;
    Limits limits_;
    PlaceFinder places_;
    std::size_t token_end_ = 0;
    std::vector<Open> open_;
    Value root_;
    std::optional<SyntaxError> error_;
};

} // namespace teamo::json
