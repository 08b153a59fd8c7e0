// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether udevd also sets the affinity of a device's interrupts: IRQAffinityPolicy= of the .link file, which
// it applies at each event of the device (systemd.link(5), since 2026; an older udevd ignores the key).
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

struct UdevIrqPolicy {
    std::string file;    ///< the .link file, or the drop-in that sets it
    std::string setting; ///< "IRQAffinityPolicy=spread"
    bool operator==(const UdevIrqPolicy&) const = default;
};

/// None: udevd leaves the device's interrupts alone, or there is no udevd.
Result<std::optional<UdevIrqPolicy>> read_udev_irq_policy(IfIndex device);

// Text and value, pure.

struct ConfigText {
    std::string path, text;
};
/// A file and its drop-ins in their order; the last assignment wins. IRQAffinity= and IRQAffinityNUMA= have
/// no effect without IRQAffinityPolicy= (systemd, link-config.c: link_apply_irq_affinity).
std::optional<UdevIrqPolicy> find_udev_irq_policy(std::span<const ConfigText> files);

/// Splits ID_NET_LINK_FILE_DROPINS: paths separated by colons, special characters escaped by a backslash.
std::vector<std::string> parse_udev_paths(std::string_view text);

} // namespace teamo
