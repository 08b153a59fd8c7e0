// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json/write.h"

#include "base/match.h"
#include "json/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace teamo::json {
namespace {

class Writer {
public:
    explicit Writer(Style style) : style_(style) {}

    void value(const Value& value, int depth) {
        std::visit(Match{
                       [this](std::nullptr_t) { text_ += "null"; },
                       [this](bool flag) { text_ += flag ? "true" : "false"; },
                       [this](std::int64_t number) { text_ += fmt::format("{}", number); },
                       [this](double number) { real(number); },
                       [this](const std::string& string) { this->string(string); },
                       [this, depth](const Array& array) { this->array(array, depth); },
                       [this, depth](const Object& object) { this->object(object, depth); },
                   },
                   value.data());
    }

    std::string take() { return std::move(text_); }

private:
    void array(const Array& array, int depth) {
        text_ += '[';
        for (std::size_t index = 0; index < array.size(); ++index) {
            separate(index == 0, depth + 1);
            value(array[index], depth + 1);
        }
        close(array.empty(), depth, ']');
    }

    void object(const Object& object, int depth) {
        std::vector<const Member*> members;
        members.reserve(object.size());
        for (const auto& member : object)
            members.push_back(&member);
        if (style_.sort_keys)
            std::ranges::sort(members, {},
                              [](const Member* member) { return std::string_view(member->key); });

        text_ += '{';
        for (const auto* member : members) {
            separate(member == members.front(), depth + 1);
            string(member->key);
            text_ += ": ";
            value(member->value, depth + 1);
        }
        close(members.empty(), depth, '}');
    }

    // jansson writes a blank after the comma only if it does not break the line.
    void separate(bool first, int depth) {
        if (!first) text_ += style_.indent > 0 ? "," : ", ";
        break_line(depth);
    }

    void close(bool empty, int depth, char bracket) {
        if (!empty) break_line(depth);
        text_ += bracket;
    }

    void break_line(int depth) {
        if (style_.indent <= 0) return;
        text_ += '\n';
        text_.append(static_cast<std::size_t>(depth) * static_cast<std::size_t>(style_.indent), ' ');
    }

    // As jansson's jsonp_dtostr: 17 digits, always recognizable as a real, exponent without "+" and leading
    // zeros.
    void real(double number) {
        if (!std::isfinite(number)) { // JSON cannot express it, and jansson has no such value
            text_ += "null";
            return;
        }
        auto digits = fmt::format("{:.17g}", number);
        const auto e = digits.find('e');
        if (e != std::string::npos) {
            const auto from = digits[e + 1] == '-' ? e + 2 : e + 1;
            digits.erase(from, digits.find_first_not_of("+0", from) - from);
        } else if (digits.find('.') == std::string::npos) {
            digits += ".0";
        }
        text_ += digits;
    }

    void string(std::string_view rest) {
        text_ += '"';
        while (!rest.empty()) {
            const auto [code, size] = first_character(rest);
            character(code);
            rest.remove_prefix(size);
        }
        text_ += '"';
    }

    void character(char32_t code) {
        constexpr std::u32string_view special = U"\"\\\b\f\n\r\t";
        if (const auto at = special.find(code); at != std::u32string_view::npos) {
            text_ += '\\';
            text_ += "\"\\bfnrt"[at];
        } else if (code >= 0x20 && code < 0x80) {
            text_ += static_cast<char>(code);
        } else if (code < 0x10000) {
            escape(code);
        } else {
            escape(0xD800 + ((code - 0x10000) >> 10));
            escape(0xDC00 + ((code - 0x10000) & 0x3FF));
        }
    }

    void escape(char32_t unit) { text_ += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(unit)); }

    Style style_;
    std::string text_;
};

} // namespace

std::string write(const Value& value, Style style) {
    Writer writer(style);
    writer.value(value, 0);
    return writer.take();
}

} // namespace teamo::json
