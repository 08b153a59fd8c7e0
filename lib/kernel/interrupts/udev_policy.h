// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether udevd places a device's interrupts too: IRQAffinityPolicy= of the .link file that it applies to the
// device at each of its events (systemd.link(5), since 2026; an older udevd has no such key and passes over
// it).
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
    std::string file;    ///< the .link file, or the drop-in that says it
    std::string setting; ///< "IRQAffinityPolicy=spread"
    bool operator==(const UdevIrqPolicy&) const = default;
};

/// None: udevd leaves the device's interrupts alone, or there is no udevd.
Result<std::optional<UdevIrqPolicy>> read_udev_irq_policy(IfIndex device);

// Text and value, pure.

struct ConfigText {
    std::string path, text;
};
/// A file and its drop-ins in their order; what comes later counts. IRQAffinity= and IRQAffinityNUMA= say
/// where to, and do nothing without IRQAffinityPolicy= (systemd, link-config.c: link_apply_irq_affinity).
std::optional<UdevIrqPolicy> find_udev_irq_policy(std::span<const ConfigText> files);

/// Paths between colons, as ID_NET_LINK_FILE_DROPINS has them: what is special in one has a backslash before
/// it.
std::vector<std::string> parse_udev_paths(std::string_view text);

} // namespace teamo
