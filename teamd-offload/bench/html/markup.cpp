// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/markup.h"

#include <fmt/format.h>

namespace teamo::bench::html {
namespace {

void add_escaped(std::string& out, char one) {
    switch (one) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    case '\'': out += "&#39;"; return;
    default: break;
    }
    const auto code = static_cast<unsigned char>(one);
    if ((code < ' ' && one != '\n' && one != '\t') || code == 0x7f)
        out += "\xef\xbf\xbd";
    else
        out += one;
}

std::string opened(std::string_view name, const Attributes& attributes) {
    std::string out = fmt::format("<{}", name);
    for (const auto& [key, value] : attributes)
        out += fmt::format(" {}=\"{}\"", key, Markup(value).str());
    return out;
}

/// A cell that is longer may break.
constexpr std::size_t sentence = 30;

Markup cells_of(const std::vector<std::string>& row) {
    Markup cells;
    for (std::size_t column = 0; column < row.size(); ++column) {
        const Attributes classes =
            row[column].size() > sentence ? Attributes{{"class", "words"}} : Attributes{};
        cells += column == 0 ? element("th", {{"scope", "row"}}, row[column])
                             : element("td", classes, row[column]);
    }
    return cells;
}

} // namespace

Markup::Markup(std::string_view text) {
    text_.reserve(text.size());
    for (const char one : text)
        add_escaped(text_, one);
}

Markup Markup::verbatim(std::string_view markup) {
    Markup made;
    made.text_ = markup;
    return made;
}

Markup element(std::string_view name, const Attributes& attributes, const Markup& content) {
    return Markup::verbatim(fmt::format("{}>{}</{}>", opened(name, attributes), content.str(), name));
}

Markup element(std::string_view name, const Markup& content) { return element(name, {}, content); }

Markup lone_element(std::string_view name, const Attributes& attributes) {
    return Markup::verbatim(opened(name, attributes) + "/>");
}

Markup markup_of(const Table& table) {
    Markup titles, rows;
    for (const auto& title : table.titles)
        titles += element("th", {{"scope", "col"}}, title);
    for (const auto& row : table.rows)
        rows += element("tr", cells_of(row)) + Markup::verbatim("\n");
    const auto content = element("caption", element("span", table.caption)) +
                         element("thead", element("tr", titles)) +
                         element("tbody", Markup::verbatim("\n") + rows);
    // Scrolls by the keyboard too.
    return element(
               "div",
               {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", table.caption}},
               element("table", content)) +
           Markup::verbatim("\n");
}

} // namespace teamo::bench::html
