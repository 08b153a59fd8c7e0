// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdio>
#include <string_view>

namespace teamo::ctl {

/// fmt::print() throws if the disk is full. This sets the error of the stream, which main() checks.
inline void put(std::string_view text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
}

} // namespace teamo::ctl
