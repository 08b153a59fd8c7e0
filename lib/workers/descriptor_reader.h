// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads the processes' TCP sockets without BPF: duplicates each descriptor (pidfd_getfd). Costs seven times
// as much.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <vector>

namespace teamo {

/// What read_descriptors() cannot see, as a message for the administrator.
inline constexpr const char* descriptor_limitations =
    "without BPF only TCP is visible, not UDP, and neither the device nor processes that may not be traced";

/// As SocketReader::read(), for TCP only. A connection that its process closes while we hold the duplicate
/// ends some microseconds later. EPERM: no descriptor may be duplicated (CAP_SYS_PTRACE). ENOSYS: the kernel
/// is older than 5.6.
Result<std::vector<SocketTraffic>> read_descriptors();

} // namespace teamo
