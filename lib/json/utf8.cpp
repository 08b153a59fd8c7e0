// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/utf8.h"

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

} // namespace teamo::json
