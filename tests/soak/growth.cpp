// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/growth.h"

#include "soak/state.h"
#include "support/daemon/address_space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace teamo::soak {
namespace {

/// What the descriptors of a process are, like "anon_inode:bpf-map" or "socket", and how many of each.
std::map<std::string, std::size_t> descriptors_of(const std::string& folder) {
    std::map<std::string, std::size_t> kinds;
    for (const auto& each : std::filesystem::directory_iterator(folder + "/fd")) {
        std::error_code closed_meanwhile;
        const auto target = std::filesystem::read_symlink(each, closed_meanwhile).native();
        if (!closed_meanwhile) ++kinds[target.substr(0, target.find(":["))];
    }
    return kinds;
}

} // namespace

std::string Growth::wrong(const Look& look) {
    const auto folder = fmt::format("/proc/{}", look.process);
    kib_ = test::own_memory_kib(look.process);
    const auto kinds = descriptors_of(folder);
    descriptors_ = 0;
    for (const auto& [kind, count] : kinds)
        descriptors_ += count;
    descriptors_ -= std::min(look.of_others, descriptors_);
    const auto children = content_of(fmt::format("{}/task/{}/children", folder, look.process));
    if (!children.empty()) return "the daemon has a child: " + children;
    // What a daemon allocates in its first faults it uses again.
    constexpr unsigned warm_up = 25;
    if (process_ != look.process) process_ = look.process, began_ = look.faults, first_ = {};
    faults_ = look.faults - began_;
    longest_ = std::max(longest_, faults_);
    auto& first = first_[look.guarded ? 1 : 0];
    if (++first.looks <= warm_up) {
        first.kib = std::max(kib_, first.kib);
        first.descriptors = std::max(descriptors_, first.descriptors);
        return {};
    }
    // The address sanitizer keeps freed blocks in its quarantine.
    const std::size_t more_kib = test::has_address_sanitizer(look.process) ? 600'000 : 1'024,
                      more_descriptors = 4;
    // The blocks that it had without the guard, it may have with it.
    const auto kib = look.guarded ? std::max(first_[0].kib, first.kib) : first.kib;
    if (kib_ > kib + more_kib)
        return fmt::format("the daemon's memory grew from {} to {} KiB in {} faults", kib, kib_, faults_);
    if (descriptors_ > first.descriptors + more_descriptors)
        return fmt::format("the daemon's descriptors grew from {} to {} in {} faults: {}", first.descriptors,
                           descriptors_, faults_, testing::PrintToString(kinds));
    return {};
}

std::string Growth::text() const {
    return fmt::format("{} KiB, {} descriptors after {} faults without a restart (longest {}), at first at "
                       "most {} KiB and {}, with the guard {} KiB and {}",
                       kib_, descriptors_, faults_, longest_, first_[0].kib, first_[0].descriptors,
                       first_[1].kib, first_[1].descriptors);
}

} // namespace teamo::soak
