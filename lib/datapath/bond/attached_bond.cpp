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
    const auto count = types.offset("bond_up_slave", "count");
    const auto first = types.offset("bond_up_slave", "arr");
    const auto slave = types.offset("slave", "dev");
    if (!device || !usable || !count || !first || !slave)
        return fail(ENOENT, "the kernel does not tell the types of bonding (/sys/kernel/btf/bonding)");
    // include/linux/netdevice.h: netdev_priv()
    const auto own =
        types.offset("net_device", "priv").value_or((*device + alignment - 1) / alignment * alignment);
    return teamo_bonding{.usable_slaves = own + *usable, .count = *count, .first = *first, .device = *slave};
}

Result<ForwardPrograms> load_programs() {
    return ForwardPrograms::load(TEAMO_EXIT_HASH, /*by_cpu=*/false, TEAMO_TRY(bonding_layout()));
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
    if (wanted_) return {.sees = true, .reason = {}};
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
    return apply(tables);
}

Result<> AttachedBond::attach_port(IfIndex port, Slot /*slot*/) {
    counters_.begin(port);
    return {};
}

Result<> AttachedBond::detach_port(IfIndex port, bool made_clsact) {
    counters_.forget(port);
    return hooks_.detach_all(port, made_clsact);
}

/// The program comes with the first port that transmits.
Result<> AttachedBond::apply(const Tables& tables) {
    tables_ = tables;
    if (!programs_ || !wanted_) return {};
    TEAMO_TRY(programs_->apply(tables));
    if (attached_ || tables.transmit == 0) return {};
    TEAMO_TRY(hooks_.attach(bond_, Hook::egress, Duty::transmit, Order::first, programs_->transmit()));
    attached_ = true;
    return {};
}

Result<> AttachedBond::steer(bool on) {
    wanted_ = on;
    if (on) return apply(Tables(tables_));
    attached_ = false;
    // Also the program of an earlier daemon. The rest of clsact stays: to remove it costs packets.
    return hooks_.detach(bond_, Hook::egress, Duty::transmit);
}

Result<std::array<PortCounters, max_ports + 1>> AttachedBond::read_counters() {
    return counters_.read(tables_.ports);
}

Result<BucketCounters> AttachedBond::read_bucket(std::uint8_t bucket) {
    if (programs_ && wanted_) return programs_->read_bucket(bucket);
    return fail(EAGAIN, "bonding chooses the slaves");
}

Result<AllBucketCounters> AttachedBond::read_buckets() {
    if (programs_ && wanted_) return programs_->read_buckets();
    return tl::unexpected(read_bucket(0).error());
}

} // namespace teamo
