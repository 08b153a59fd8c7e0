// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace teamo::ctl {

/// A counter of TCP in /proc/net/snmp, which has a line of names and one of numbers. 0: it is not there.
/// Pure.
std::uint64_t parse_tcp_counter(std::string_view snmp, std::string_view counter);

} // namespace teamo::ctl
