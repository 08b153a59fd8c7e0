// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdio>
#include <string_view>

namespace teamo::ctl {

/// fmt::print throws where the disk is full; this leaves the failure with the stream, where main finds it.
inline void put(std::string_view text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
}

} // namespace teamo::ctl
