// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The datapaths whose device is made by the kernel's bonding driver.
#pragma once

#include "datapath/program_datapath.h"
#include "datapath/slave_counters.h"

namespace teamo {

/// With our programs: the transmit program, on the bond's egress, names the port by its queue_id, and bonding
/// sends the packet there (drivers/net/bonding/bond_main.c: bond_slave_override). Only the modes balance-rr
/// and active-backup do that; in balance-rr all slaves receive. The receive program drops what arrives by a
/// port that does not receive. docs/adr/0021.
class BondDatapath final : public ProgramDatapath {
public:
    /// `by_cpu`: for tables with HashField::cpu.
    static Result<std::unique_ptr<BondDatapath>> open(bool by_cpu, DevicePrograms& hooks);

    std::string_view name() const override { return "bond"; }
    bool kernel_manages_ports() const override { return true; }
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
    BondDatapath(ForwardPrograms programs, DevicePrograms& hooks, LinkControl links)
        : ProgramDatapath(std::move(programs), hooks), links_(std::move(links)) {}

    LinkControl links_;
    IfIndex team_;
    bool attached_ = false; ///< the transmit program
};

/// In mode balance-xor, whose layer3+4 hash chooses the ports, for device TLS: only there, and in 802.3ad,
/// does the kernel find the card behind a socket (drivers/net/bonding/bond_main.c: bond_sk_get_lower_dev).
/// Our hash, buckets, drains and sight of links have no place in it. docs/adr/0022.
class KernelHashDatapath final : public Datapath {
public:
    static Result<std::unique_ptr<KernelHashDatapath>> open(DevicePrograms& hooks);

    std::string_view name() const override { return "bond"; }
    bool kernel_manages_ports() const override { return true; }
    bool kernel_hashes() const override { return true; }
    bool announces_gains() const override { return false; }
    LinkSight link_sight() const override;
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    /// EEXIST also if the bond has another mode, which cannot change while it has slaves.
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    Result<bool> lacks_program(IfIndex /*port*/) const override { return false; }
    /// The port must be down: the driver sets it up (bond_enslave).
    Result<> attach_port(IfIndex port, Slot slot) override;
    Result<> detach_port(IfIndex port, bool made_clsact) override;
    /// Only notes the ports: bonding uses all that have a link.
    Result<> apply(const Tables& tables) override;
    Result<std::array<PortCounters, max_ports + 1>> read_counters() override;
    Result<BucketCounters> read_bucket(std::uint8_t bucket) override;
    Result<AllBucketCounters> read_buckets() override;
    bool moves_in_gaps() const override { return true; }
    bool has_moved(std::uint8_t /*bucket*/) const override { return true; }

private:
    KernelHashDatapath(DevicePrograms& hooks, LinkControl links, SlaveCounters counters)
        : hooks_(hooks), links_(std::move(links)), counters_(std::move(counters)) {}

    DevicePrograms& hooks_;
    LinkControl links_;
    SlaveCounters counters_;
    IfIndex team_;
    std::array<IfIndex, max_ports + 1> ports_{};
};

} // namespace teamo
