// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frequency of this machine's time stamp counter, which its guests read.
#pragma once

#include <cstdint>

namespace teamo::test {

/// In kHz, measured for a quarter of a second; 0 on a machine that has none.
std::uint64_t tsc_khz();

} // namespace teamo::test
