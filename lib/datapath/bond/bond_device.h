// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bonds that are devices of teams of ours: how they are made, found and taken over.
#pragma once

#include "datapath/datapath.h"
#include "model/config.h"

namespace teamo {

/// The mode in which bonding itself does what the runner does; balance-xor if there is none, in which our
/// program names the slave of each packet.
constexpr BondMode bond_mode_of(const RunnerConfig& runner) {
    if (std::holds_alternative<ActiveBackupRunner>(runner)) return bond_mode_active_backup;
    if (is_lacp(runner)) return bond_mode_lacp;
    return bond_mode_xor;
}

/// True if there is one.
constexpr bool has_mode_for(const RunnerConfig& runner) {
    return bond_mode_of(runner) != bond_mode_xor || std::holds_alternative<LoadBalanceRunner>(runner);
}
/// What the configuration asks for and bonding has not: the place in the configuration, and what is
/// instead. The types of a module show it only if that is loaded.
std::vector<std::string> lacking_in_bonding(const TeamConfig& config);

/// A new bond that has the mark.
Result<TeamDevice> create_bond_device(LinkControl& links, const std::string& name, const MacAddress& address,
                                      const BondSetup& setup);
/// As Datapath::find_device(). EEXIST also if the bond has another mode, which cannot change while it has
/// slaves.
Result<std::optional<TeamDevice>> find_bond_device(const Links& links, const std::string& name,
                                                   bool take_over, BondMode mode);
/// One that another program made. EEXIST: the device is something else.
Result<std::optional<TeamDevice>> find_bond_of_others(const Links& links, const std::string& name);
/// Gives a bond that was taken over from another program our options and the mark, and that of an earlier
/// daemon our policy.
Result<> claim_bond(LinkControl& links, IfIndex bond, const BondSetup& setup);

} // namespace teamo
