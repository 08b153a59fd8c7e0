// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The steps from a document to a TeamConfig: the checks, which report to Diagnostics, and the conversion.
#pragma once

#include "config/config_file.h"
#include "config/keys.h"

namespace teamo::config {

/// The position of a value in the text and in the document.
struct Where {
    std::string pointer; ///< RFC 6901
    json::Place place;

    Where member(std::string_view name, json::Place place) const;
};

/// A value of the document with its position.
struct Located {
    const json::Value& value;
    Where where;

    Located member(const json::Member& member) const;
    /// A null value if there is no such member.
    Located member(std::string_view name) const;
    /// Calls `action` with each element of an array; with this value itself if it is not an array.
    template <class Action>
    void each(Action action) const {
        const auto* array = value.array();
        if (array == nullptr) return action(*this);
        std::size_t index = 0;
        for (const auto& element : *array)
            action(Located{element, {fmt::format("{}/{}", where.pointer, index++), element.place()}});
    }
};

/// The errors and warnings about one document.
class Diagnostics {
public:
    void error(const Where& where, std::string text, Fault fault = Fault::refused);
    void warning(const Where& where, std::string text);

    /// Limits the work: a megabyte of unknown keys would need 100,000 searches for the nearest name.
    bool has_warned_enough() const { return warnings_ >= 100; }

    /// Whether an error prevents a start.
    bool is_refused() const { return refused_; }
    /// Sorted by place.
    std::vector<Diagnostic> take();

private:
    std::vector<Diagnostic> list_;
    std::size_t warnings_ = 0;
    bool refused_ = false;
};

/// The known word with the fewest letters to change, add, drop or swap; empty if more than a third of the
/// letters differ (with one letter always allowed).
std::string_view nearest(std::string_view written, std::span<const std::string_view> known);

/// Checks a value against the key's type, range and words. Empty: the value is valid. Elements of arrays and
/// members of objects are not checked.
std::string fault_of(const Key& key, const json::Value& value);

/// Reports unknown keys and invalid values. The document must be an object.
void check_document(const json::Value& document, Diagnostics& diagnostics);

/// Checks what the key table cannot express: device names, the number of ports, the hardware address, the
/// length of a TIPC bearer's name. `device`: from option -t; empty if not given.
void check_names(const json::Value& document, std::string_view device, Diagnostics& diagnostics);

/// Converts a document without refused values.
TeamConfig make_team(const json::Value& document, std::string_view device);

/// Checks what only the whole tells: values that exclude each other, and those that have no effect with the
/// others. `team`: made from the document.
void check_team(const json::Value& document, const TeamConfig& team, Diagnostics& diagnostics);

} // namespace teamo::config
