// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <cstddef>

namespace teamo {

/// How many rules nftables has in this network namespace, of all families. An error: the kernel has no
/// nftables.
Result<std::size_t> count_nftables_rules();

} // namespace teamo
