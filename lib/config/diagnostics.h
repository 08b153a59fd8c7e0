// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config_file.h"
#include "config/keys.h"

namespace teamo::config {

/// The position of a value in the text and in the document.
struct Where {
    std::string pointer; ///< RFC 6901
    json::Place place;

    Where member(const json::Member& member) const;
    Where member(std::string_view name, json::Place place) const;
    Where element(std::size_t index, json::Place place) const;
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

} // namespace teamo::config
