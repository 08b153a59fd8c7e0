// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/interests.h"

#include <algorithm>

namespace teamo {

template <class Change>
void Interests::each_list(const Interest& interest, const Change& change) {
    const auto in = [&change](auto& map, const auto& key) {
        auto& list = map[key];
        change(list);
        if (list.empty()) map.erase(key);
    };
    if (interest.all) change(all_);
    for (const auto device : interest.devices)
        if (device) in(by_device_, device);
    for (const auto& name : interest.names)
        in(by_name_, name);
    if (!interest.team.empty()) in(by_team_, interest.team);
    if (!interest.address.is_zero()) in(by_address_, interest.address);
}

void Interests::add(Observer* who, const Interest& interest) {
    each_list(interest, [who](List& list) { list.push_back(who); });
}

void Interests::remove(Observer* who, const Interest& interest) {
    each_list(interest, [who](List& list) { std::erase(list, who); });
}

std::set<Observer*> Interests::concerned(const Link& link) const {
    std::set<Observer*> found(all_.begin(), all_.end());
    const auto add = [&found](const auto& map, const auto& key) {
        if (const auto list = map.find(key); list != map.end())
            found.insert(list->second.begin(), list->second.end());
    };
    add(by_device_, link.index);
    add(by_device_, link.master);
    if (!link.lower_elsewhere) add(by_device_, link.lower);
    add(by_address_, link.address);
    add(by_name_, link.name);
    for (const auto& name : link.altnames)
        add(by_name_, name);
    if (const auto mark = link.altnames.empty() ? std::nullopt : port_mark_of(link))
        add(by_team_, mark->team);
    return found;
}

} // namespace teamo
