// SPDX-License-Identifier: LGPL-2.1-or-later
//
// For what nothing else tells about a kernel.
#pragma once

#include <string_view>

namespace teamo {

/// `release`: "6.1.0-32-amd64".
bool is_at_least(std::string_view release, unsigned major, unsigned minor);
/// The same of the running kernel.
bool kernel_is_at_least(unsigned major, unsigned minor);

} // namespace teamo
