// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/quote.h"

#include <fmt/format.h>

#include <array>

namespace teamo::json {
namespace {

struct Form {
    unsigned char mask, lead;
    char32_t least; ///< a smaller code has a shorter form
};
constexpr auto forms =
    std::to_array<Form>({{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}});

bool is_scalar(char32_t code) { return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF); }

constexpr std::size_t longest_quote = 80; // bytes; so a message takes at most about two lines of a terminal

// Line and paragraph separators and direction marks too: they reorder the text around them on a screen.
bool is_control(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200E && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string_view take_printable(std::string_view text, std::string& made) {
    const auto [code, size] = first_character(text);
    const auto lead = static_cast<unsigned char>(text.front());
    if (code == replacement_character && size == 1)
        made += fmt::format("\\x{:02x}", lead);
    else if (is_control(code))
        made += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    else
        made += text.substr(0, size);
    return text.substr(size);
}

} // namespace

Character first_character(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    std::size_t size = 0;
    for (const auto& form : forms) {
        ++size;
        if ((lead & form.mask) != form.lead) continue;
        if (text.size() < size) break;
        char32_t code = lead & static_cast<unsigned char>(~form.mask);
        bool complete = true;
        for (const char next : text.substr(1, size - 1)) {
            complete = complete && (static_cast<unsigned char>(next) & 0xC0) == 0x80;
            code = code << 6 | (static_cast<unsigned char>(next) & 0x3F);
        }
        if (complete && code >= form.least && is_scalar(code)) return {code, size};
        break;
    }
    return {replacement_character, 1};
}

std::string printable(std::string_view text) {
    std::string made;
    while (!text.empty())
        text = take_printable(text, made);
    return made;
}

std::string quote(std::string_view text) {
    std::string made = "\"";
    while (!text.empty() && made.size() < longest_quote) {
        if (text.front() == '"' || text.front() == '\\') made += '\\';
        text = take_printable(text, made);
    }
    return made + (text.empty() ? "\"" : "…\"");
}

} // namespace teamo::json
