// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <cstddef>
#include <map>
#include <string>

struct nlmsghdr;

namespace teamo {

/// By family and name of the table, as nft(8) writes them: "inet filter".
using NftablesRules = std::map<std::string, std::size_t>;

/// How many rules nftables has in this network namespace, of all families. An error: the kernel has no
/// nftables.
Result<NftablesRules> count_nftables_rules();

// Messages of the kernel, pure.

/// Counts a rule (NFT_MSG_NEWRULE).
void add_nftables_rule(const nlmsghdr* message, NftablesRules& rules);

} // namespace teamo
