// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

namespace teamo {

/// EPERM, naming what is missing, unless this process may do all that a team needs: CAP_NET_ADMIN (devices,
/// addresses, filters), CAP_NET_RAW (announcements), CAP_BPF (programs and maps) and CAP_PERFMON (without it
/// the verifier lets no program look into a packet at a place that depends on the packet). CAP_SYS_ADMIN
/// serves for the last two.
Result<> check_capabilities();

} // namespace teamo
