// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config_file.h"
#include "config/keys.h"

namespace teamo::config {

/// A value of the document: where it stands in the text, and in the tree.
struct Where {
    std::string pointer; ///< RFC 6901
    json::Place place;

    Where member(const json::Member& member) const;
    Where member(std::string_view name, json::Place place) const;
    Where element(std::size_t index, json::Place place) const;
};

/// What is to be said about one document.
class Diagnostics {
public:
    void error(const Where& where, std::string text, Fault fault = Fault::refused);
    void warning(const Where& where, std::string text);

    /// A megabyte of unknown keys is not worth a hundred thousand searches for the nearest name.
    bool has_warned_enough() const { return warnings_ >= 100; }

    /// Whether something makes a start impossible.
    bool is_refused() const { return refused_; }
    /// In the order of their places.
    std::vector<Diagnostic> take();

private:
    std::vector<Diagnostic> list_;
    std::size_t warnings_ = 0;
    bool refused_ = false;
};

} // namespace teamo::config
