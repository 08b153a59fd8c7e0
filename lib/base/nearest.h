// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <string_view>

namespace teamo {

/// The known word with the fewest letters to change, add, drop or swap; empty if more than a third of the
/// letters differ (with one letter always allowed).
std::string_view nearest(std::string_view written, std::span<const std::string_view> known);

} // namespace teamo
