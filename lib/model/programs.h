// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Our BPF programs on the devices of a team, as the state document shows them.
#pragma once

#include "base/named.h"

#include <cstdint>
#include <string>
#include <vector>

namespace teamo {

/// A program of another that runs before ours, and may keep frames from it.
struct ForeignProgram {
    std::string kind{}; ///< "tcx", "netkit", or that of a filter: "u32"
    std::string name{}; ///< empty: it has none, or it is not known
    std::uint32_t id = 0;
    std::uint32_t priority = 0; ///< of a filter
    bool takes = false;         ///< it sends frames elsewhere (mirred redirect)
    bool operator==(const ForeignProgram&) const = default;
};

struct ProgramStatus {
    IfIndex ifindex{};
    std::string device{};
    std::string hook{}; ///< "ingress", "egress" or "netkit"
    std::string name{}; ///< "teamo_receive"
    std::uint32_t id = 0;
    std::string by{};       ///< "tcx", "netkit" or "clsact"; empty: it is not on the device
    std::uint64_t lost = 0; ///< how often another program has removed or displaced it
    bool is_left = false;   ///< it was displaced again and again, and stays behind others
    std::string failure{};  ///< why it is not there
    bool redirects = false; ///< the frames that it sees go nowhere but where it sends them
    std::vector<ForeignProgram> before{};
    bool catches_accepted = false; ///< frames that `before` accepts come to the team all the same
    bool operator==(const ProgramStatus&) const = default;
};

/// "the tc filter u32 of priority 10".
std::string text_of(const ForeignProgram& program);

/// What a program that runs before ours does to the team, as a sentence without a full stop.
std::string effect_of(const ProgramStatus& program, const ForeignProgram& before);

} // namespace teamo
