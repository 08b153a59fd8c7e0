// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/bond_hardware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace teamo {

// drivers/net/bonding/bond_main.c, Linux 6.6 and 6.12.
std::string hardware_of(std::string_view mode, std::string_view policy) {
    const bool hashes = mode == "balance-xor" || mode == "802.3ad", is_backup = mode == "active-backup";
    std::vector<std::string_view> works, fails;
    const auto add = [&](bool can, std::string_view what) { (can ? works : fails).push_back(what); };
    // bond_lag_tx_type(); drivers such as mlx5 take these two kinds.
    add(hashes || is_backup, "RoCE and virtual functions over all ports");
    // bond_xdp_check()
    add((hashes && policy != "vlan+srcmac") || is_backup || mode == "balance-rr", "native XDP");
    // BOND_XFRM_FEATURES, bond_ipsec_add_sa()
    add(is_backup, "IPsec offload");
    // bond_ethtool_get_ts_info(), bond_hwtstamp_get(): those of the active slave
    add(is_backup, "hardware time stamps (PTP)");
    // bond_sk_check()
    add(hashes && policy == "layer3+4", "device TLS");
    return fmt::format("bonding in mode {}: cards can do {}; not {}", mode,
                       works.empty() ? "nothing of this" : fmt::format("{}", fmt::join(works, ", ")),
                       fmt::join(fails, ", "));
}

} // namespace teamo
