// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/steps.h"
#include "json/fields.h"
#include "json/quote.h"

#include <algorithm>
#include <tuple>

namespace teamo {

std::string text_of(const Diagnostic& diagnostic) {
    return diagnostic.pointer.empty()
               ? diagnostic.text
               : fmt::format("{}: {}", json::printable(diagnostic.pointer), diagnostic.text);
}

std::string text_of(const Diagnostic& diagnostic, std::string_view file) {
    std::string text = json::printable(file);
    if (diagnostic.place.line != 0)
        text += fmt::format(":{}:{}", diagnostic.place.line, diagnostic.place.column);
    text += diagnostic.severity == Diagnostic::Severity::error ? ": error: " : ": warning: ";
    return text + text_of(diagnostic);
}

const Diagnostic* ConfigurationRead::first_error() const {
    const auto found = std::ranges::find(diagnostics, Diagnostic::Severity::error, &Diagnostic::severity);
    return found == diagnostics.end() ? nullptr : &*found;
}

const Diagnostic* ConfigurationRead::refusal() const {
    const auto found = std::ranges::find_if(diagnostics, [](const Diagnostic& diagnostic) {
        return diagnostic.severity == Diagnostic::Severity::error && !diagnostic.tolerated;
    });
    return found == diagnostics.end() ? nullptr : &*found;
}

namespace config {

Where Where::member(std::string_view name, json::Place member_place) const {
    Where inner{pointer + '/', member_place};
    for (const char letter : name) {
        if (letter == '~')
            inner.pointer += "~0";
        else if (letter == '/')
            inner.pointer += "~1";
        else
            inner.pointer += letter;
    }
    return inner;
}

Located Located::member(const json::Member& member) const {
    return {member.value, where.member(member.key, member.value.place())};
}

Located Located::member(std::string_view name) const {
    const auto& inner = json::child(value, name);
    return {inner, where.member(name, inner.place())};
}

void Diagnostics::error(const Where& where, std::string text, Fault fault) {
    refused_ = refused_ || fault == Fault::refused;
    list_.push_back({.severity = Diagnostic::Severity::error,
                     .place = where.place,
                     .pointer = where.pointer,
                     .text = std::move(text),
                     .tolerated = fault == Fault::tolerated});
}

void Diagnostics::warning(const Where& where, std::string text) {
    ++warnings_;
    list_.push_back({.severity = Diagnostic::Severity::warning,
                     .place = where.place,
                     .pointer = where.pointer,
                     .text = std::move(text)});
}

std::vector<Diagnostic> Diagnostics::take() {
    std::ranges::stable_sort(list_, {}, [](const Diagnostic& diagnostic) {
        return std::tuple(diagnostic.place.line, diagnostic.place.column);
    });
    return std::move(list_);
}

} // namespace config
} // namespace teamo
