// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <map>
#include <string_view>

namespace teamo {

/// How long each CPU was idle since boot, from /proc/timer_list (kernel/time/timer_list.c), which root may
/// read. /proc/stat rounds the same clock down to hundredths of a second: in a round of a second on a CPU
/// that is busy for a tenth of it, that is an error of up to a tenth. Of a CPU that is idle now, up to a
/// timer tick is missing. CPUs without all of these values are left out.
std::map<unsigned, std::chrono::nanoseconds> parse_idle_times(std::string_view timer_list);

} // namespace teamo
