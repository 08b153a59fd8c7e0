// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/quote.h"

#include "json/utf8.h"

#include <fmt/format.h>

namespace teamo::json {
namespace {

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
