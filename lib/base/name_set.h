// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sets of names of which there are few, each in many sets, such as the features of devices: the letters are
// in memory once (for as long as the process runs), and a set is a sorted list of views.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

namespace teamo {

/// How many names there can be in a process; the kernel has some 60 features.
inline constexpr std::size_t most_names = 4096;

/// The same letters for equal names, valid until the process ends. From any thread. Empty if there are more
/// names than `most_names`.
std::string_view kept_once(std::string_view name);

class NameSet {
public:
    using value_type = std::string_view;
    using const_iterator = std::vector<std::string_view>::const_iterator;
    using iterator = const_iterator;

    NameSet() = default;
    NameSet(std::initializer_list<std::string_view> names) { insert(names); }
    template <class Iterator>
    NameSet(Iterator first, Iterator last) {
        for (; first != last; ++first)
            insert(*first);
    }

    const_iterator begin() const { return names_.begin(); }
    const_iterator end() const { return names_.end(); }
    std::size_t size() const { return names_.size(); }
    bool empty() const { return names_.empty(); }
    bool contains(std::string_view name) const { return std::ranges::binary_search(names_, name); }
    void clear() { names_.clear(); }
    /// Nothing if there are too many names in the process.
    void insert(std::string_view name) {
        const auto place = std::ranges::lower_bound(names_, name);
        if (place != names_.end() && *place == name) return;
        if (const auto kept = kept_once(name); !kept.empty()) names_.insert(place, kept);
    }
    /// Two names in braces would otherwise be the begin and the end of one.
    void insert(std::initializer_list<std::string_view> names) {
        for (const auto name : names)
            insert(name);
    }
    void add(const NameSet& others) {
        for (const auto name : others)
            insert(name);
    }
    /// How many: 0 or 1.
    std::size_t erase(std::string_view name) { return std::erase(names_, name); }
    NameSet without(const NameSet& others) const {
        NameSet rest;
        std::ranges::set_difference(names_, others.names_, std::back_inserter(rest.names_));
        return rest;
    }
    NameSet common_with(const NameSet& others) const {
        NameSet common;
        std::ranges::set_intersection(names_, others.names_, std::back_inserter(common.names_));
        return common;
    }
    bool operator==(const NameSet&) const = default;

private:
    std::vector<std::string_view> names_; // sorted
};

} // namespace teamo
