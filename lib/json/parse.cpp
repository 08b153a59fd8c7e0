// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/parse.h"

#include "json/quote.h"

#include <fmt/format.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

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

/// Makes the tree from RapidJSON's events (SAX), and refuses what RapidJSON would let pass and jansson
/// does not. RapidJSON's events come without a place: a token begins at the first byte after the last one
/// that is no blank and no separator.
class TreeBuilder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TreeBuilder> {
public:
    TreeBuilder(std::string_view text, const rapidjson::MemoryStream& stream, Limits limits)
        : text_(text), stream_(stream), limits_(limits) {
        for (std::size_t at = 0; at < text.size(); ++at)
            if (text[at] == '\n') line_begins_.push_back(at + 1);
    }

    // NOLINTBEGIN(readability-identifier-naming): the names are RapidJSON's
    bool Null() { return scalar(nullptr); }
    bool Bool(bool value) { return scalar(value); }
    bool RawNumber(const char*, rapidjson::SizeType, bool);
    bool String(const char* bytes, rapidjson::SizeType size, bool) {
        const std::string_view string(bytes, size);
        return has_valid_characters(string) && scalar(string);
    }
    bool Key(const char* bytes, rapidjson::SizeType size, bool);
    bool StartObject() { return open(Object{}); }
    bool StartArray() { return open(Array{}); }
    bool EndObject(rapidjson::SizeType);
    bool EndArray(rapidjson::SizeType) { return close(); }
    // NOLINTEND(readability-identifier-naming)

    /// The offset of the next token, or of the unfinished one.
    std::size_t token_begin() const {
        return std::min(text_.find_first_not_of(" \t\r\n,:", token_end_), text_.size());
    }
    Place place_of(std::size_t offset) const {
        const auto next_line = std::ranges::upper_bound(line_begins_, offset);
        return {static_cast<std::uint32_t>(next_line - line_begins_.begin()),
                static_cast<std::uint32_t>(offset - *std::prev(next_line) + 1)};
    }

    const std::optional<SyntaxError>& error() const { return error_; }
    Value take() { return std::move(root_); }

private:
    struct Open {
        Value container;
        std::string key; ///< of the member that is being read
        Place key_place;
    };

    bool refuse(Place place, std::string text) {
        error_ = SyntaxError{place, std::move(text)};
        return false;
    }
    bool scalar(Value value);
    bool open(Value container);
    bool close();
    bool add(Value value);
    bool has_valid_characters(std::string_view string);

    std::string_view text_;
    const rapidjson::MemoryStream& stream_;
    Limits limits_;
    std::vector<std::size_t> line_begins_{0};
    std::size_t token_end_ = 0;
    std::vector<Open> open_;
    Value root_;
    std::optional<SyntaxError> error_;
};

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

// Iterative, so that no input exhausts the stack. Numbers as text, because this version of RapidJSON does not
// check exponents for overflow, and converts an integer that is too big to a real.
constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                           rapidjson::kParseNumbersAsStringsFlag;

const char* text_of(rapidjson::ParseErrorCode code) {
    switch (code) {
    case rapidjson::kParseErrorDocumentEmpty: return "the text is empty";
    case rapidjson::kParseErrorDocumentRootNotSingular: return "something follows the end of the document";
    case rapidjson::kParseErrorValueInvalid: return "a value is expected here";
    case rapidjson::kParseErrorObjectMissName: return "a name in double quotes is expected here";
    case rapidjson::kParseErrorObjectMissColon: return "':' is expected after a name";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket: return "',' or '}' is expected here";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket: return "',' or ']' is expected here";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex: return "\\u needs four hexadecimal digits";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
        return "half a surrogate pair is not a character";
    case rapidjson::kParseErrorStringEscapeInvalid: return "unknown escape sequence";
    case rapidjson::kParseErrorStringMissQuotationMark: return "this string has no closing quote";
    case rapidjson::kParseErrorStringInvalidEncoding: return "these bytes are not UTF-8";
    case rapidjson::kParseErrorNumberTooBig: return "the number is too big";
    case rapidjson::kParseErrorNumberMissFraction: return "a digit is expected after the decimal point";
    case rapidjson::kParseErrorNumberMissExponent: return "a digit is expected in the exponent";
    default: return "this is not JSON";
    }
}

/// What JavaScript and its configuration formats allow at this place between two tokens, and JSON does not.
std::optional<SyntaxError> foreign_syntax(std::string_view text, std::size_t offset,
                                          const TreeBuilder& builder) {
    const auto rest = text.substr(offset);
    if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#'))
        return SyntaxError{builder.place_of(offset), "a comment; JSON has none: remove it"};
    const auto last = text.substr(0, offset).find_last_not_of(" \t\r\n");
    const bool closes = rest.starts_with('}') || rest.starts_with(']');
    if (closes && last != std::string_view::npos && text[last] == ',')
        return SyntaxError{builder.place_of(last),
                           fmt::format("a comma before '{}': nothing follows it; remove it", rest.front())};
    return std::nullopt;
}

/// Whether an error is about what stands between two tokens.
bool is_between_tokens(rapidjson::ParseErrorCode code) {
    switch (code) {
    case rapidjson::kParseErrorDocumentRootNotSingular:
    case rapidjson::kParseErrorValueInvalid:
    case rapidjson::kParseErrorObjectMissName:
    case rapidjson::kParseErrorObjectMissColon:
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket: return true;
    default: return false;
    }
}

SyntaxError error_of(const rapidjson::ParseResult& result, std::string_view text,
                     const TreeBuilder& builder) {
    if (builder.error()) return *builder.error();
    const auto code = result.Code();
    const auto offset = result.Offset();
    if (code == rapidjson::kParseErrorStringMissQuotationMark)
        return {builder.place_of(builder.token_begin()), text_of(code)};
    if (code != rapidjson::kParseErrorDocumentEmpty && offset >= text.size())
        return {builder.place_of(text.size()), "the text ends too early: the document is incomplete"};
    if (auto foreign = is_between_tokens(code) ? foreign_syntax(text, offset, builder) : std::nullopt)
        return *foreign;
    if (code == rapidjson::kParseErrorStringEscapeInvalid && text[offset] != '\\')
        return {builder.place_of(offset), "a control character in a string must be escaped"};
    return {builder.place_of(offset), text_of(code)};
}

} // namespace

tl::expected<Value, SyntaxError> parse(std::string_view text, Limits limits) {
    if (text.size() > limits.bytes)
        return tl::unexpected(SyntaxError{
            {1, 1}, fmt::format("the text has {} bytes; the limit is {}", text.size(), limits.bytes)});
    rapidjson::MemoryStream stream(text.data(), text.size());
    TreeBuilder builder(text, stream, limits);
    // RapidJSON would take a NUL for the end of the text and ignore the rest.
    if (const auto nul = text.find('\0'); nul != std::string_view::npos)
        return tl::unexpected(SyntaxError{builder.place_of(nul), "a NUL byte is not allowed"});
    rapidjson::Reader reader;
    const auto result = reader.Parse<flags>(stream, builder);
    if (result.IsError()) return tl::unexpected(error_of(result, text, builder));
    return builder.take();
}

} // namespace teamo::json
