// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which devices concern which team: an index, so that an event costs the same with one team and with
// hundreds.
#pragma once

#include "model/observation.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace teamo {

class Observer;

/// Which devices concern a team.
struct Interest {
    bool all = false;              ///< each one
    std::string team{};            ///< what has the mark of a port of this team
    std::set<IfIndex> devices{};   ///< these, and what is on them or a part of them
    std::set<std::string> names{}; ///< what has one of these names, or gets or loses it
    MacAddress address{};          ///< what has this address
    bool operator==(const Interest&) const = default;
};

class Interests {
public:
    void add(Observer* who, const Interest& interest);
    /// `interest`: as it was added.
    void remove(Observer* who, const Interest& interest);
    /// Those that an event of the device concerns; each once.
    std::set<Observer*> concerned(const Link& link) const;

private:
    using List = std::vector<Observer*>;
    /// Calls `change(list)` with each list that has those of the interest.
    template <class Change>
    void each_list(const Interest& interest, const Change& change);

    List all_;
    std::map<IfIndex, List> by_device_;
    std::map<std::string, List, std::less<>> by_name_, by_team_;
    std::map<MacAddress, List> by_address_;
};

} // namespace teamo
