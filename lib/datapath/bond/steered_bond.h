// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "datapath/bond/bond_device.h"
#include "datapath/datapath.h"
#include "datapath/forward_programs.h"
#include "datapath/programs/device_programs.h"
#include "datapath/slave_counters.h"

#include <map>
#include <set>

namespace teamo {

/// A bond in its own mode: of another program (docs/adr/0038), or ours (docs/adr/0039). In balance-xor and
/// 802.3ad the transmit program, on the bond's egress, names the slave by the packet's hash
/// (bpf/bonding.bpf.h), which bonding uses with the policy encap3+4; what it does not name bonding sends by
/// itself. In active-backup bonding chooses, and one program on the bond's egress and one on the ingress of
/// each backup help until it has noticed a lost link.
class SteeredBond final : public Datapath {
public:
    /// `own`: how a bond of ours is made; steered unless its policy is layer3+4, with which bonding chooses
    /// the ports by its own hash (docs/adr/0022). None: the bond is of another program. `hash`: of the
    /// tables. Succeeds also if the kernel refuses the programs: see cannot_steer().
    static Result<std::unique_ptr<SteeredBond>> open(std::optional<BondSetup> own, HashKind hash,
                                                     DevicePrograms& hooks);

    std::string_view name() const override { return "bond"; }
    bool kernel_manages_ports() const override { return true; }
    bool is_guest() const override { return !own_; }
    bool is_bond() const override { return is_steerable(); }
    bool can_run(const TeamConfig& config) const override;
    bool kernel_hashes() const override { return !is_steerable(); }
    Result<> steer(Steering how) override;
    bool steers() const override { return attached_; }
    std::string cannot_steer() const override { return refusal_; }
    LinkSight link_sight() const override;
    bool announces_gains() const override { return false; }
    /// ENODEV: a bond of another program is not made.
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    /// EEXIST: the device of that name is no bond, or it is one of a team and should be of another program,
    /// or the reverse, or has another mode than ours.
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    /// The kernel takes such a port from the programs' map.
    Result<bool> lacks_program(IfIndex port) const override { return programs_ && programs_->has_lost(port); }
    /// Of a bond of ours: the port must be down, because the driver sets it up (bond_enslave).
    Result<> attach_port(IfIndex port, Slot slot) override;
    Result<> detach_port(IfIndex port, bool made_clsact) override;
    Result<> apply(const Tables& tables) override;
    /// Those of the slaves: they have also what no program of ours steers.
    Result<std::array<PortCounters, max_ports + 1>> read_counters() override;
    Result<BucketCounters> read_bucket(std::uint8_t bucket) override;
    Result<AllBucketCounters> read_buckets() override;
    Result<std::vector<LearnedAddress>> read_addresses() override {
        return counts_buckets() ? programs_->read_addresses() : std::vector<LearnedAddress>();
    }
    bool moves_in_gaps() const override { return true; }
    bool has_moved(std::uint8_t bucket) const override { return !programs_ || programs_->has_moved(bucket); }

private:
    Result<> attach_to_bond(Order order, int program);
    Result<> help_bonding(Tables tables);
    Result<> hand_in(IfIndex port, bool carries);
    Result<> sift();
    Result<> set_priorities(const Tables& tables);
    bool needs(Duty duty) const;
    bool is_steerable() const { return !own_ || own_->policy == BondPolicy::encap34; }
    bool counts_buckets() const { return programs_ && how_ == Steering::by_hash; }
    SteeredBond(std::optional<BondSetup> own, DevicePrograms& hooks, LinkControl links,
                SlaveCounters counters, HashKind hash)
        : own_(own), hash_(hash), hooks_(hooks), links_(std::move(links)), counters_(std::move(counters)) {}

    std::optional<BondSetup> own_;
    HashKind hash_;
    DevicePrograms& hooks_;
    LinkControl links_;
    SlaveCounters counters_;
    std::optional<ForwardPrograms> programs_;
    std::string refusal_; ///< why there are none, although it is steerable
    IfIndex bond_;
    Tables tables_; ///< as last applied
    Steering how_ = Steering::off;
    bool attached_ = false; ///< the program on the bond
    bool is_clean_ = false; ///< no program that is not needed is left
    /// By duty: the slaves with that program; true: as we attached it, not an earlier daemon.
    std::map<Duty, std::map<IfIndex, bool>> on_slaves_;
    std::map<IfIndex, std::uint16_t> priorities_; ///< of slaves, as we have set them
    std::set<IfIndex> carrying_;                  ///< the slaves by which the bond sent last
};

} // namespace teamo
