// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts carrier changes without waiting for RTNL, which the removal of a namespace can hold for seconds.
// Other interfaces wait for it: RTM_GETLINK, ETHTOOL_GLINK, and from kernel 6.8 on
// /sys/class/net/DEVICE/carrier (net/core/net-sysfs.c: carrier_show). SIOCGIFFLAGS and `operstate` do not,
// but show what linkwatch knows, which is late. `carrier_changes` is the sum of two counters that
// netif_carrier_off() and netif_carrier_on() themselves increment; `carrier_down_count` is the first of them
// (since kernel 4.16).
#pragma once

#include "base/handle.h"
#include "base/result.h"
#include "model/observation.h"

namespace teamo {

class CarrierCount {
public:
    /// ENODEV: /sys shows another network namespace than this process's, as after nsenter(1).
    static Result<CarrierCount> open(const Link& link);

    // ENODEV from either: the device is gone.

    /// Losses and returns together.
    Result<int> changes() const;
    /// Losses alone.
    Result<int> losses() const;

private:
    CarrierCount(UniqueFd changes, UniqueFd losses)
        : changes_(std::move(changes)), losses_(std::move(losses)) {}
    UniqueFd changes_, losses_; ///< stay valid when the device is renamed
};

} // namespace teamo
