// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/bench/results.h"

#include <string>
#include <string_view>

namespace teamo::ctl::bench {

/// The machine of this process, without what is about the ports.
Machine read_machine();

/// The name of the first CPU in /proc/cpuinfo; empty on machines without names. Pure.
std::string parse_cpu_model(std::string_view cpuinfo);

} // namespace teamo::ctl::bench
