// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamd's state document ("teamdctl team0 state dump"): made from a TeamStatus, and read by teamoctl. Pure.
#pragma once

#include "base/result.h"
#include "model/status.h"
#include "json/value.h"

#include <span>

namespace teamo::control {

/// Has all keys that libteamdctl requires, as in teamd's document. Additions that teamd does not have are
/// under their own keys, such as "team_device"/"link", "datapath", and "datapath" of each port.
json::Value state_document(const TeamStatus& status);

/// What teamoctl reads of it.
struct TeamState {
    std::string name, runner, datapath, device_kind;
    std::string version{}; ///< of the daemon; empty: one that does not tell it yet
    IfIndex ifindex;
    MacAddress address;
    LinkSight link_sight{};
    bool kernel_hashes = false;
    bool counts_by_program = false;         ///< as of a TeamStatus
    std::string bond_mode{};                ///< empty: no bond
    std::optional<AttachedStatus> attached; ///< none: the team is not a bond of others
    LinkStatus link;                        ///< its duplex is not read
    std::uint16_t min_ports = 1;
    std::vector<PortStatus> ports;        ///< without their link watches; of LACP only the state
    FailureDomain common{};               ///< of the ports that carry or can take over
    std::optional<BalanceStatus> balance; ///< if the team hashes
    std::optional<OffloadStatus> offload; ///< none, as of the next three: the daemon is too old
    std::optional<InterruptStatus> interrupts;
    std::optional<WorkersStatus> workers;
    std::optional<GuardStatus> guard;
    std::vector<RefusedStatus> refused{};
    std::vector<ProgramStatus> programs{};
    json::Value document; ///< the whole document
    bool operator==(const TeamState&) const = default;
};

/// ENOTSUP if the daemon is a teamd: its state has no "datapath".
Result<TeamState> read_state(json::Value document);

/// A leaf of the document by the names of its path. Integers in decimal, booleans "true" and "false". None:
/// no such leaf.
std::optional<std::string> state_item(const json::Value& document, std::span<const std::string> names);

/// The names of teamd's item path: separated by dots, names with dots in quotes (ports."eth1.100".link.up).
/// None if a quote is not closed or a name is empty.
std::optional<std::vector<std::string>> split_item_path(std::string_view path);

} // namespace teamo::control
