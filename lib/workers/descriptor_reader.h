// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The processes' TCP sockets without BPF: each descriptor is borrowed and asked. Seven times as dear.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <vector>

namespace teamo {

/// What read_descriptors() cannot see, for people.
inline constexpr const char* descriptors_cannot_see =
    "without BPF only TCP is seen, not UDP; nor processes that may not be traced, nor by which device";

/// As SocketReader::read(), of TCP. A connection that its process closes in this moment ends some
/// microseconds later. EPERM: no process's descriptors may be borrowed (CAP_SYS_PTRACE). ENOSYS: a kernel
/// before 5.6.
Result<std::vector<SocketTraffic>> read_descriptors();

} // namespace teamo
