// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Our tc filter on a device's ingress hook. It lives beside others: clsact is made only where there is
// none, and taken away only if it was made here and nobody else hangs on it.
#pragma once

#include "base/named.h"
#include "base/result.h"

namespace teamo {

/// Hangs the program on the device's ingress, or swaps it for the one of ours that hangs there, without a
/// packet in between that sees neither. True: the clsact qdisc was made for it.
/// EBUSY: a filter that is not ours has our place.
Result<bool> attach_ingress(IfIndex device, int program);

/// Takes our filter away if it is there, then clsact if `remove_clsact` and it is empty.
Result<> detach_ingress(IfIndex device, bool remove_clsact);

} // namespace teamo
