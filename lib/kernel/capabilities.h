// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

namespace teamo {

/// EPERM, naming what is missing, unless this process may do all that a team needs: CAP_NET_ADMIN (devices,
/// addresses, filters), CAP_NET_RAW (announcements) and CAP_BPF (programs and maps; CAP_SYS_ADMIN serves
/// too).
Result<> check_capabilities();

} // namespace teamo
