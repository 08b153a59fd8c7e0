// SPDX-License-Identifier: LGPL-2.1-or-later
//
// HTML and SVG as a type of their own: text becomes markup only by escaping, so none can be forgotten.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teamo::bench::html {

class Markup {
public:
    Markup() = default;
    /// Escapes. A control character, which HTML does not allow, becomes U+FFFD.
    Markup(std::string_view text);
    Markup(const std::string& text) : Markup(std::string_view(text)) {}
    Markup(const char* text) : Markup(std::string_view(text)) {}

    /// Of this program's own markup: never of a text that was measured or read.
    static Markup verbatim(std::string_view markup);

    Markup& operator+=(const Markup& more) {
        text_ += more.text_;
        return *this;
    }
    friend Markup operator+(Markup one, const Markup& more) { return one += more; }
    const std::string& str() const { return text_; }
    bool empty() const { return text_.empty(); }

private:
    std::string text_;
};

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// <name attribute="value">content</name>; the values are escaped.
Markup element(std::string_view name, const Attributes& attributes, const Markup& content);
Markup element(std::string_view name, const Markup& content);
/// <name attribute="value">, for an element without content (meta, or in SVG with "/").
Markup lone_element(std::string_view name, const Attributes& attributes);

/// A table that scrolls in itself. The cells of the first column head their rows.
struct Table {
    std::string caption{};
    std::vector<std::string> titles{};
    std::vector<std::vector<std::string>> rows{};
};
Markup markup_of(const Table& table);

} // namespace teamo::bench::html
