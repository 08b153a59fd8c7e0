// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "json/value.h"

namespace teamo::json {

/// Line and column of an offset. Reads the text only once if the offsets ascend.
class PlaceFinder {
public:
    explicit PlaceFinder(std::string_view text) : text_(text) {}

    Place place_of(std::size_t offset) {
        if (offset < counted_) *this = PlaceFinder(text_);
        for (; counted_ < offset && counted_ < text_.size(); ++counted_) {
            if (text_[counted_] != '\n') continue;
            ++line_;
            line_begin_ = counted_ + 1;
        }
        return {line_, static_cast<std::uint32_t>(counted_ - line_begin_ + 1)};
    }

private:
    std::string_view text_;
    std::size_t counted_ = 0, line_begin_ = 0;
    std::uint32_t line_ = 1;
};

} // namespace teamo::json
