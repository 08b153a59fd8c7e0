// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

namespace teamo {

/// What works over a bond in that mode and with that policy (as bonding names them) and what does not, by the
/// kernel's rules: a sentence without a full stop.
std::string hardware_of(std::string_view mode, std::string_view policy);

} // namespace teamo
