// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What each option of the bonding driver is here.
#pragma once

#include "ctl/import/read_bond.h"
#include "json/value.h"

#include <span>

namespace teamo::ctl {

enum class Counterpart : std::uint8_t { carried, meaningless, none };

struct BondOption {
    std::string_view name;
    Counterpart counterpart;
    std::string_view text;      ///< what it becomes, or why not
    std::string_view neutral{}; ///< counterpart none: with these values, by spaces, nothing is lost
};

/// All options of bonding.rst and of linux/if_link.h up to 6.18, sorted by name.
std::span<const BondOption> bond_options();

struct ImportedTeam {
    json::Value document;
    std::vector<std::string> lost{}; ///< what has no counterpart, a sentence each
};

/// Pure. EINVAL: an option has a value that bonding does not know.
Result<ImportedTeam> team_of(const BondSetup& bond);

} // namespace teamo::ctl
