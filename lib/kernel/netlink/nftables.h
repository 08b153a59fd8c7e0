// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/named.h"
#include "base/result.h"
#include "kernel/netlink/netlink_socket.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace teamo {

/// By family and name of the table, as nft(8) writes them: "inet filter".
using NftablesRules = std::map<std::string, std::size_t>;

/// How many rules nftables has in this network namespace, of all families. An error: the kernel has no
/// nftables.
Result<NftablesRules> count_nftables_rules();

/// A chain at the end of a device's ingress, which sends what comes there out of another device. Frames to
/// the link-local addresses of bridges (01:80:c2:00:00:00 to 0f) stay.
struct ForwardChain {
    std::string device{};
    IfIndex to{};
    std::uint16_t left_protocol = 0; ///< an EtherType that stays too; 0: none
    bool operator==(const ForwardChain&) const = default;
};
/// Replaces a table of the family netdev with these chains, all at once. Without chains there is no table.
Result<> replace_forward_table(NetlinkSocket& socket, const std::string& table,
                               const std::vector<ForwardChain>& chains);
/// How many rules a table of the family netdev has; 0 also if there is no such table.
Result<std::size_t> count_forward_rules(NetlinkSocket& socket, const std::string& table);

// Messages of the kernel, pure.

/// Counts a rule (NFT_MSG_NEWRULE).
void add_nftables_rule(const nlmsghdr* message, NftablesRules& rules);

} // namespace teamo
