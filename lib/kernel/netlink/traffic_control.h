// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Our tc filters on a device's clsact hooks. They live beside others: clsact is made only where there is
// none, and taken away only if it was made here and nobody else hangs on it.
#pragma once

#include "base/named.h"
#include "base/result.h"

namespace teamo {

/// Whether the device has no qdisc to hang filters on, so that attach_ingress() will make one.
Result<bool> lacks_clsact(IfIndex device);

/// Hangs the program on the device's ingress, or swaps it for the one of ours that hangs there, without a
/// packet in between that sees neither. EEXIST: a filter that is not ours has our place.
Result<> attach_ingress(IfIndex device, int program);

/// The same for its egress. Nothing of ours is left there but with the team's own device, and goes with it.
Result<> attach_egress(IfIndex device, int program);

/// Takes our ingress filter away if it is there, then clsact if `remove_clsact` and it is empty.
Result<> detach_ingress(IfIndex device, bool remove_clsact);

} // namespace teamo
