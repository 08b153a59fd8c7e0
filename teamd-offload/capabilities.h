// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

namespace teamo {

/// Checks the capabilities that a team needs: CAP_NET_ADMIN (devices, addresses, filters), CAP_NET_RAW
/// (announcements), CAP_BPF (programs and maps) and CAP_PERFMON (without it the verifier refuses packet
/// access at a variable offset). CAP_SYS_ADMIN replaces the last two. EPERM: the error names those that are
/// missing.
Result<> check_capabilities();

} // namespace teamo
