// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The IPv4 multicast groups of each device, from the text of /proc/net/igmp.
// Any text gives a value or an Error.
#pragma once

#include "announce/announcement_frames.h"
#include "base/named.h"
#include "base/result.h"

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace teamo::announce {

/// Limit of the text in bytes: about 100,000 groups.
inline constexpr std::size_t longest_group_list = std::size_t{16} << 20;

struct Ipv4Groups {
    IgmpVersion version = IgmpVersion::v3;
    std::vector<IpAddress> groups;
    bool operator==(const Ipv4Groups&) const = default;
};

Result<std::map<IfIndex, Ipv4Groups>> parse_proc_igmp(std::string_view text);

} // namespace teamo::announce
