// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string_view>

namespace teamo {

/// The known word that is nearest to what somebody wrote, by the number of letters to change, add,
/// drop or swap; empty where none is near enough to be what was meant (a third of the letters).
std::string_view nearest(std::string_view written, std::span<const std::string_view> known);

} // namespace teamo
