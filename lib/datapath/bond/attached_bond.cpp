// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/attached_bond.h"

#include "datapath/master_device.h"
#include "kernel/bpf/kernel_types.h"

namespace teamo {
namespace {

/// What the program reads of the kernel's bonding driver. ENOENT: the kernel does not tell its types.
Result<teamo_bonding> bonding_layout() {
    constexpr std::uint32_t alignment = 32; // NETDEV_ALIGN
    const auto types = TEAMO_TRY(KernelTypes::with_module("bonding"));
    const auto device = types.size("net_device");
    const auto usable = types.offset("bonding", "usable_slaves");
    const auto active = types.offset("bonding", "curr_active_slave");
    const auto count = types.offset("bond_up_slave", "count");
    const auto first = types.offset("bond_up_slave", "arr");
    const auto slave = types.offset("slave", "dev");
    if (!device || !usable || !active || !count || !first || !slave)
        return fail(ENOENT, "the kernel does not tell the types of bonding (/sys/kernel/btf/bonding)");
    // include/linux/netdevice.h: netdev_priv()
    const auto own =
        types.offset("net_device", "priv").value_or((*device + alignment - 1) / alignment * alignment);
    return teamo_bonding{.usable_slaves = own + *usable,
                         .active = own + *active,
                         .count = *count,
                         .first = *first,
                         .device = *slave};
}

/// Of the program on the bond's egress.
Duty egress_duty(Steering how) { return how == Steering::by_backup ? Duty::send_by_backup : Duty::transmit; }

Result<ForwardPrograms> load_programs() {
    return ForwardPrograms::load(TEAMO_EXIT_GUEST, /*by_cpu=*/false, TEAMO_TRY(bonding_layout()));
}

} // namespace

Result<std::unique_ptr<AttachedBond>> AttachedBond::open(DevicePrograms& hooks) {
    auto counters = TEAMO_TRY(SlaveCounters::open());
    std::unique_ptr<AttachedBond> bond(new AttachedBond(hooks, std::move(counters)));
    auto programs = load_programs();
    if (programs)
        bond->programs_.emplace(std::move(*programs));
    else
        bond->refusal_ = programs.error().text;
    return bond;
}

LinkSight AttachedBond::link_sight() const {
    if (how_ != Steering::off) return {.sees = true, .reason = {}};
    return {.sees = false, .reason = "bonding chooses the slaves"};
}

Result<TeamDevice> AttachedBond::create_device(LinkControl& /*links*/, const std::string& name,
                                               const MacAddress& /*address*/) {
    return fail(ENODEV, fmt::format("there is no bond {}", name));
}

Result<std::optional<TeamDevice>> AttachedBond::find_device(const Links& links, const std::string& name,
                                                            bool /*take_over*/) const {
    const auto* bond = find_named(links, name);
    if (bond == nullptr) return std::optional<TeamDevice>();
    if (bond->kind != bond_kind)
        return fail(EEXIST,
                    fmt::format("device {} is not a bond, and the daemon can attach only to a bond", name));
    if (is_marked_master(*bond))
        return fail(EEXIST, fmt::format("{} is the bond of team {}, whose daemon steers it", name,
                                        *team_of_device(*bond)));
    return std::optional(TeamDevice{.team = bond->index, .inner = {}, .kind = bond_kind});
}

Result<> AttachedBond::attach_team(const TeamDevice& device, const Tables& tables) {
    bond_ = device.team;
    if (how_ == Steering::off) TEAMO_TRY(steer(how_));
    return apply(tables);
}

Result<> AttachedBond::attach_port(IfIndex port, Slot /*slot*/) {
    counters_.begin(port);
    if (TEAMO_TRY(hooks_.has(port, Hook::ingress, Duty::hand_in))) handing_.try_emplace(port, false);
    return {};
}

/// clsact stays, here and below: to remove it costs packets.
Result<> AttachedBond::detach_port(IfIndex port, bool /*made_clsact*/) {
    counters_.forget(port);
    handing_.erase(port);
    return hooks_.detach_all(port, /*remove_clsact=*/false);
}

/// The program comes with the first port that transmits.
Result<> AttachedBond::apply(const Tables& tables) {
    tables_ = tables;
    if (!programs_ || how_ == Steering::off) return {};
    TEAMO_TRY(how_ == Steering::by_backup ? help_bonding(tables) : programs_->apply(tables));
    if (attached_ || tables.transmit == 0) return {};
    const int program = how_ == Steering::by_hash ? programs_->transmit() : programs_->send_by_backup();
    TEAMO_TRY(hooks_.attach(bond_, Hook::egress, egress_duty(how_), Order::first, program));
    attached_ = true;
    is_bare_ = false;
    return {};
}

Result<> AttachedBond::help_bonding(Tables tables) {
    // What bonding itself delivers is not handed in: with all_slaves_active what a backup receives. The
    // active slave may be a backup when no daemon runs.
    if (tables.receive == tables.transmit) tables.receive = 0;
    TEAMO_TRY(programs_->apply(tables));
    for (const auto slot : tables.standby) {
        const auto port = tables.ports[slot.value];
        if (!port || handing_[port]) continue;
        // A backup carries nothing, so that clsact, which kernels before 6.6 need, costs no packet there.
        if ((tables.transmit & bit(slot)) != 0 &&
            TEAMO_TRY(hooks_.makes_clsact(port, Hook::ingress, Duty::hand_in)))
            continue;
        TEAMO_TRY(hooks_.attach(port, Hook::ingress, Duty::hand_in, Order::first, programs_->hand_in()));
        handing_[port] = true;
    }
    return {};
}

Result<> AttachedBond::steer(Steering how) {
    const auto before = std::exchange(how_, how);
    if (how != Steering::by_backup)
        while (!handing_.empty()) {
            TEAMO_TRY(hooks_.detach(handing_.begin()->first, Hook::ingress, Duty::hand_in));
            handing_.erase(handing_.begin());
        }
    if (how == before && (how != Steering::off || is_bare_)) return {};
    if (bond_ && !is_bare_)
        for (const auto other : {Steering::by_hash, Steering::by_backup})
            if (other != how) TEAMO_TRY(hooks_.detach(bond_, Hook::egress, egress_duty(other)));
    attached_ = false;
    is_bare_ = bond_ && how == Steering::off;
    return apply(Tables(tables_));
}

Result<std::array<PortCounters, max_ports + 1>> AttachedBond::read_counters() {
    auto counters = counters_.read(tables_.ports);
    if (!programs_ || how_ != Steering::by_hash) return counters;
    const auto steered = TEAMO_TRY(programs_->read_counters());
    for (std::size_t slot = 1; slot < counters.size(); ++slot)
        counters[slot].tx_steered_bytes = steered[slot].tx_bytes;
    return counters;
}

Result<BucketCounters> AttachedBond::read_bucket(std::uint8_t bucket) {
    if (programs_ && how_ == Steering::by_hash) return programs_->read_bucket(bucket);
    return fail(EAGAIN, "bonding chooses the slaves");
}

Result<AllBucketCounters> AttachedBond::read_buckets() {
    if (programs_ && how_ == Steering::by_hash) return programs_->read_buckets();
    return tl::unexpected(read_bucket(0).error());
}

} // namespace teamo
