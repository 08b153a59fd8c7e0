// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/bond_setup.h"

#include "datapath/master_device.h"

namespace teamo {

Result<> check_bond_mode(const Links& links, IfIndex bond, BondMode mode) {
    const auto* link = find_link(links, bond);
    if (link == nullptr) return {};
    // drivers/net/bonding/bond_main.c: bond_select_queue() wraps the number of a queue that is not there.
    if (mode == bond_mode_round_robin && link->tx_queues <= max_ports && !is_marked_master(*link))
        return fail(EEXIST,
                    fmt::format("bond {} has {} transmit queues, and the team needs {}; start with -r "
                                "to replace it",
                                link->name, link->tx_queues, max_ports + 1));
    if (link->bond_mode == mode) return {};
    return fail(EEXIST,
                fmt::format("bond {} exists and its mode is not {}, which the team needs; start with -r "
                            "to replace it",
                            link->name, mode == bond_mode_xor ? "balance-xor" : "balance-rr"));
}

Result<> claim_bond(LinkControl& links, IfIndex bond, BondMode mode) {
    if (TEAMO_TRY(is_marked_master(links, bond))) return {};
    TEAMO_TRY(links.set_up_bond(bond, mode, bond_miimon));
    // Two slaves cannot have the same queue_id, not even while they are exchanged.
    for (const auto& [index, link] : TEAMO_TRY(links.read_all()))
        if (link.master == bond && link.bond_queue != 0) TEAMO_TRY(links.set_bond_queue(index, 0));
    return mark_master_device(links, bond);
}

} // namespace teamo
