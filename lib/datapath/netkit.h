// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"

namespace teamo {

/// Attaches a program to the team's end of a netkit pair, replacing all programs there. It is attached to the
/// device without a BPF link, so it stays when this process ends.
Result<> attach_netkit(IfIndex device, int program);

} // namespace teamo
