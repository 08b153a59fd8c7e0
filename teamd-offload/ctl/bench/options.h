// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/ip_address.h"
#include "ctl/bench/run/plan.h"

#include <map>
#include <set>
#include <string>

namespace teamo::ctl::bench {

/// The command line's options by name, without "--".
using OptionValues = std::map<std::string, std::string, std::less<>>;

/// Of `teamoctl bench` and `teamoctl TEAM bench`. EINVAL: wrong usage.
Result<Options> options_from(const OptionValues& values);

struct ServeOptions {
    std::uint16_t port = 5201;
    std::set<IpAddress> allowed{};
};
/// Of `teamoctl bench serve`. Clients must be named, so that no stranger makes load here.
Result<ServeOptions> serve_options_from(const OptionValues& values);

} // namespace teamo::ctl::bench
