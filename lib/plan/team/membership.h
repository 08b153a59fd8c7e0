// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "model/config.h"
#include "model/observation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace teamo {

/// Who would lose the frames of a port: our program takes all of them; the kernel's drivers leave those of
/// VLAN devices on the port.
enum class Takes : std::uint8_t { all, untagged };

/// Devices of this namespace on `device` that would receive nothing if it were a port.
std::vector<const Link*> users_of(const Links& links, const Link& device, Takes takes);
/// The same of those that have it as their lower device.
std::vector<const Link*> users_among(std::vector<const Link*> on_it, Takes takes);
/// "mv0 (macvlan), eth1.7 (vlan)"
std::string text_of(const std::vector<const Link*>& users);

/// Whether a device may become a port of the team; else the reason and what to do about it.
/// EBUSY: others use it (users_of()). EEXIST: it has a master or another team's mark. EINVAL: it is not an
/// Ethernet device, is an aggregate, or is built on the team. The kernel's drivers refuse the same
/// (team_port_add, bond_enslave).
Result<> may_join(const Links& links, const Link& device, std::string_view team, Takes takes);
/// The same for users in other namespaces. `unicast`: the addresses in the device's list, which such a
/// macvlan adds while it is up.
Result<> has_no_user_elsewhere(const Link& device, const std::vector<MacAddress>& unicast);

/// The name under which the configuration has a device: the device's own, else an alternative one. Empty: it
/// does not have it.
std::string configured_name(const TeamConfig& config, const Link& device);

/// The refusal of a port that is the device of another port.
Error another_name_of(std::string_view port);

/// Refuses two ports of the configuration that are one device.
Result<> check_distinct(const Links& links, const TeamConfig& config);

/// Refuses a name for a new team that is an alternative name of another device.
Result<> check_free(const Links& links, std::string_view team);

/// Other devices that are up with the team's address, so that switches learn it at two places. Not the ports,
/// devices on top of the team or a port, and those below a port. `same`: all that have the address.
std::vector<const Link*> sharing_address(const Links& links, const Link& team, std::vector<const Link*> same);

/// Whether a daemon was killed while it created the team's device: its inner end has our mark, or the journal
/// has it (`noted`) and it is still down and without ports.
bool is_half_made(const Links& links, std::string_view team, bool noted);

} // namespace teamo
