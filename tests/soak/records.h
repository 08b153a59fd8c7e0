// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a daemon writes for the next one: the marks and the journal. Each function returns what is wrong, ""
// if nothing is.
#pragma once

#include "soak/world.h"

namespace teamo::soak {

inline constexpr const char* journal_file = "/run/teamd-offload/team0.json";

/// "address … mtu …" and flags, as settings() begins.
std::string settings_text(const std::string& address, unsigned mtu, bool up, bool promiscuous,
                          bool all_multicast);

/// The journal has each port, what it was like before it was one, and its slot, which is that of its mark.
std::string wrong_journal(const World& world, const Model& model);
std::string wrong_files();
/// By the journal.
bool is_removed_by_hand(const std::string& port);

/// A pair that has the team's mark is complete: also after a kill, before the next daemon starts. Whether its
/// inner end has IPv6 is not looked at if `may_have_ipv6`.
std::string wrong_pair(const test::NetNs& host, bool may_have_ipv6);

} // namespace teamo::soak
