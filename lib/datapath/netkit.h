// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"

namespace teamo {

/// Hangs a program on the end of a netkit pair that people see, in place of any that hangs there. It is
/// attached to the device and not held by a link, so that it stays when this process ends.
Result<> attach_netkit(IfIndex device, int program);

} // namespace teamo
