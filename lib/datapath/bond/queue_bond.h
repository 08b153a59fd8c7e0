// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bond in balance-rr, for the runners whose way of sending no other mode of bonding has.
#pragma once

#include "datapath/bond/bond_device.h"
#include "datapath/program_datapath.h"

namespace teamo {

/// The transmit program, on the bond's egress, names the port by its queue_id, and bonding sends the packet
/// there (drivers/net/bonding/bond_main.c: bond_slave_override). Only the modes balance-rr and active-backup
/// do that; in balance-rr all slaves receive. The receive program drops what arrives by a port that does not
/// receive. docs/adr/0021.
class QueueBond final : public ProgramDatapath {
public:
    /// `by_cpu`: for tables with HashField::cpu.
    static Result<std::unique_ptr<QueueBond>> open(bool by_cpu, DevicePrograms& hooks);

    std::string_view name() const override { return "bond"; }
    bool kernel_manages_ports() const override { return true; }
    bool can_run(const RunnerConfig& runner) const override {
        return bond_mode_of(runner) == bond_mode_round_robin;
    }
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    /// EEXIST also if the bond has another mode, which cannot change while it has slaves.
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    Result<bool> lacks_program(IfIndex port) const override;
    /// The port must be down: the driver sets it up (bond_enslave).
    Result<> attach_port(IfIndex port, Slot slot) override;
    Result<> detach_port(IfIndex port, bool made_clsact) override;
    Result<> apply(const Tables& tables) override;

private:
    QueueBond(ForwardPrograms programs, DevicePrograms& hooks, LinkControl links)
        : ProgramDatapath(std::move(programs), hooks), links_(std::move(links)) {}

    LinkControl links_;
    IfIndex team_;
    bool attached_ = false; ///< the transmit program
};

} // namespace teamo
