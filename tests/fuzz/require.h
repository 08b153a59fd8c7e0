// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdlib>

/// Ends the fuzzer with a finding if it is false.
inline void require(bool holds) {
    if (!holds) std::abort();
}
