// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/parse.h"

#include "json/tree_builder.h"

#include <fmt/format.h>
#include <rapidjson/reader.h>

namespace teamo::json {
namespace {

// Iterative, so that no input exhausts the stack. Numbers as text, because this version of RapidJSON does not
// check exponents for overflow, and converts an integer that is too big to a real.
constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                           rapidjson::kParseNumbersAsStringsFlag;

std::string_view text_of(rapidjson::ParseErrorCode code) {
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
    case rapidjson::kParseErrorNone:
    case rapidjson::kParseErrorTermination:
    case rapidjson::kParseErrorUnspecificSyntaxError: return "this is not JSON";
    }
    return "this is not JSON";
}

SyntaxError error_of(const rapidjson::ParseResult& result, std::string_view text, TreeBuilder& builder) {
    if (builder.error()) return *builder.error();
    const auto code = result.Code();
    if (code == rapidjson::kParseErrorStringMissQuotationMark)
        return {builder.place_of(builder.token_begin()), std::string(text_of(code))};

    const auto place = builder.place_of(result.Offset());
    if (code == rapidjson::kParseErrorDocumentEmpty) return {place, std::string(text_of(code))};
    if (result.Offset() >= text.size()) return {place, "the text ends too early: the document is incomplete"};
    if (code == rapidjson::kParseErrorStringEscapeInvalid && text[result.Offset()] != '\\')
        return {place, "a control character in a string must be escaped"};
    return {place, std::string(text_of(code))};
}

} // namespace

tl::expected<Value, SyntaxError> parse(std::string_view text, Limits limits) {
    if (text.size() > limits.bytes)
        return tl::unexpected(SyntaxError{
            {1, 1}, fmt::format("the text has {} bytes; the limit is {}", text.size(), limits.bytes)});
    // RapidJSON would take a NUL for the end of the text and ignore the rest.
    if (const auto nul = text.find('\0'); nul != std::string_view::npos)
        return tl::unexpected(SyntaxError{PlaceFinder(text).place_of(nul), "a NUL byte is not allowed"});

    rapidjson::MemoryStream stream(text.data(), text.size());
    TreeBuilder builder(text, stream, limits);
    rapidjson::Reader reader;
    const auto result = reader.Parse<flags>(stream, builder);
    if (result.IsError()) return tl::unexpected(error_of(result, text, builder));
    return builder.take();
}

} // namespace teamo::json
