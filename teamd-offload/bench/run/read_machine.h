// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bench/results.h"
#include "kernel/netlink/nftables.h"

#include <map>
#include <string>
#include <string_view>

namespace teamo::bench {

/// The machine of this process, without what is about the ports.
Machine read_machine();

/// The settings of the network that change what a connection costs, as the network namespace of this thread
/// has them. A new namespace does not show those that the whole machine has once.
std::map<std::string, std::string> read_sysctls();

/// The name of the first CPU in /proc/cpuinfo; empty on machines without names. Pure.
std::string parse_cpu_model(std::string_view cpuinfo);

/// "inet filter: 8 rules; ip nat: 1 rule": the tables with the most rules; or "none". Pure.
std::string nftables_text(const NftablesRules& rules);

} // namespace teamo::bench
