// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Finds devices by what they have, so that a team among hundreds costs no more than one alone
// (observation.cpp).
#pragma once

#include "model/observation.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teamo {

class DeviceIndex {
public:
    void add(const Link& link);
    /// `link`: as it was added.
    void remove(const Link& link);

    /// What has the device as its lower one (IFLA_LINK), also the other end of a pair.
    std::vector<IfIndex> on(IfIndex device) const;
    std::vector<IfIndex> with(const MacAddress& address) const;
    /// As find_named().
    std::optional<IfIndex> named(std::string_view name) const;

private:
    template <class Key>
    using Entries = std::set<std::pair<Key, IfIndex>>;
    template <class Change>
    void each_entry(const Link& link, const Change& change);

    Entries<IfIndex> by_lower_;
    Entries<MacAddress> by_address_;
    Entries<std::string> by_name_;
};

} // namespace teamo
