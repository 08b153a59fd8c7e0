// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/steered_bond.h"

#include "datapath/master_device.h"
#include "kernel/bpf/kernel_types.h"

#include <array>
#include <map>

namespace teamo {
namespace {

/// What the program reads of the kernel's bonding driver. ENOENT: the kernel does not tell its types.
Result<teamo_bonding> bonding_layout() {
    constexpr std::uint32_t alignment = 32; // NETDEV_ALIGN
    const auto types = TEAMO_TRY(KernelTypes::with_module("bonding"));
    const auto device = types.size("net_device");
    bool is_known = device.has_value();
    const auto offset = [&](const char* structure, const char* member) {
        const auto found = types.offset(structure, member);
        is_known = is_known && found;
        return found.value_or(0);
    };
    teamo_bonding layout{.own = 0,
                         .mode = offset("bonding", "params") + offset("bond_params", "mode"),
                         .active = offset("bonding", "curr_active_slave"),
                         .usable_slaves = offset("bonding", "usable_slaves"),
                         .count = offset("bond_up_slave", "count"),
                         .first = offset("bond_up_slave", "arr"),
                         .device = offset("slave", "dev"),
                         .bond = offset("slave", "bond"),
                         .handler_data = offset("net_device", "rx_handler_data"),
                         .policy = offset("bonding", "params") + offset("bond_params", "xmit_policy"),
                         .names_all = 0};
    if (!is_known)
        return fail(ENOENT, "the kernel does not tell the types of bonding (/sys/kernel/btf/bonding)");
    // include/linux/netdevice.h: netdev_priv()
    layout.own =
        types.offset("net_device", "priv").value_or((*device + alignment - 1) / alignment * alignment);
    return layout;
}

/// Of the program on the bond's egress.
Duty egress_duty(Steering how) { return how == Steering::by_backup ? Duty::send_by_backup : Duty::transmit; }

/// Of the programs on the ingress of slaves.
constexpr std::array slave_duties{Duty::hand_in, Duty::sift};

Result<ForwardPrograms> load_for_bonding(bool is_ours, HashKind hash) {
    auto layout = TEAMO_TRY(bonding_layout());
    layout.names_all = is_ours ? 1 : 0;
    return ForwardPrograms::load(TEAMO_EXIT_STEER, hash, layout);
}

} // namespace

Result<std::unique_ptr<SteeredBond>> SteeredBond::open(std::optional<BondSetup> own, HashKind hash,
                                                       DevicePrograms& hooks) {
    auto links = TEAMO_TRY(LinkControl::open());
    auto counters = TEAMO_TRY(SlaveCounters::open());
    std::unique_ptr<SteeredBond> bond(
        new SteeredBond(own, hooks, std::move(links), std::move(counters), hash));
    if (!bond->is_steerable()) return bond;
    // Loads the module, whose types are read. Without it the device cannot be made, which says so.
    if (own) static_cast<void>(bond->links_.knows_kind(bond_kind));
    auto programs = load_for_bonding(own.has_value(), hash);
    if (programs)
        bond->programs_.emplace(std::move(*programs));
    else
        bond->refusal_ = programs.error().text;
    return bond;
}

/// Most settings of LACP cannot change while the bond is up; min_links can.
bool SteeredBond::can_run(const TeamConfig& config) const {
    if (!own_) return true;
    const auto& runner = config.runner;
    if (bond_mode_of(runner) != own_->mode || (!refusal_.empty() && !has_mode_for(runner))) return false;
    const auto* lacp = std::get_if<LacpRunner>(&runner);
    if (lacp == nullptr) return true;
    auto without_hash = *lacp;
    without_hash.tx_hash = own_->lacp->tx_hash;
    without_hash.tx_balancer = own_->lacp->tx_balancer;
    return without_hash == own_->lacp;
}

LinkSight SteeredBond::link_sight() const {
    if (how_ != Steering::off) return {.sees = true, .reason = {}};
    return {.sees = false, .reason = "bonding chooses the slaves"};
}

Result<TeamDevice> SteeredBond::create_device(LinkControl& links, const std::string& name,
                                              const MacAddress& address) {
    if (!own_) return fail(ENODEV, fmt::format("there is no bond {}", name));
    return create_bond_device(links, name, address, *own_);
}

Result<std::optional<TeamDevice>> SteeredBond::find_device(const Links& links, const std::string& name,
                                                           bool take_over) const {
    return own_ ? find_bond_device(links, name, take_over, own_->mode) : find_bond_of_others(links, name);
}

Result<> SteeredBond::attach_team(const TeamDevice& device, const Tables& tables) {
    if (own_) TEAMO_TRY(claim_bond(links_, device.team, *own_));
    bond_ = device.team;
    // Also after another datapath was tried in this one's place.
    attached_ = is_clean_ = false;
    for (auto& [duty, slaves] : on_slaves_)
        for (auto& [port, is_there] : slaves)
            is_there = false;
    TEAMO_TRY(steer(how_));
    return apply(tables);
}

Result<> SteeredBond::attach_port(IfIndex port, Slot /*slot*/) {
    if (own_) TEAMO_TRY(enslave(links_, port, bond_));
    counters_.begin(port);
    priorities_.erase(port);
    for (const auto duty : slave_duties) {
        on_slaves_[duty].erase(port); // it may have been elsewhere
        if (!TEAMO_TRY(hooks_.has(port, Hook::ingress, duty))) continue;
        on_slaves_[duty].emplace(port, false);
        if (!needs(duty)) is_clean_ = false;
    }
    return {};
}

/// clsact stays if a bond of others sends by that slave, and on the bond: to remove it costs packets.
Result<> SteeredBond::detach_port(IfIndex port, bool made_clsact) {
    counters_.forget(port);
    priorities_.erase(port);
    for (auto& [duty, slaves] : on_slaves_)
        slaves.erase(port);
    auto released = own_ ? release_slave(links_, port, bond_) : Result<>();
    auto detached = hooks_.detach_all(port, made_clsact && (own_ || !carrying_.contains(port)));
    return released ? detached : released;
}

/// The program comes with the first port that transmits.
Result<> SteeredBond::apply(const Tables& tables) {
    tables_ = tables;
    if (tables.transmit != 0) carrying_.clear();
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if ((tables.transmit & bit(Slot{slot})) != 0) carrying_.insert(tables.ports[slot]);
    if (!programs_ || how_ == Steering::off) return set_priorities(tables);
    if (how_ == Steering::by_backup) return help_bonding(tables);
    TEAMO_TRY(programs_->apply(tables));
    TEAMO_TRY(attach_to_bond(Order::first, programs_->transmit()));
    if (hash_ == HashKind::by_source && attached_) TEAMO_TRY(sift());
    return set_priorities(tables);
}

/// Of a bond of ours in 802.3ad. A kernel without them ignores them.
Result<> SteeredBond::set_priorities(const Tables& tables) {
    if (!own_ || own_->mode != bond_mode_lacp) return {};
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot) {
        const auto port = tables.ports[slot];
        const auto wanted = tables.settings[slot].lacp_prio;
        const auto set = priorities_.find(port);
        if (!port || (set != priorities_.end() && set->second == wanted)) continue;
        TEAMO_TRY(links_.set_bond_slave(port, {{"actor_port_prio", std::to_string(wanted)}}));
        priorities_[port] = wanted;
    }
    return {};
}

/// After the bond's own program: until then nothing is known of the addresses that it sends from.
Result<> SteeredBond::sift() {
    for (const auto port : tables_.ports) {
        auto& is_ours = on_slaves_[Duty::sift];
        if (!port || is_ours[port]) continue;
        TEAMO_TRY(hooks_.attach(port, Hook::ingress, Duty::sift, Order::first, programs_->sift()));
        is_ours[port] = true;
    }
    return {};
}

/// Whether a slave has the program of that duty.
bool SteeredBond::needs(Duty duty) const {
    return duty == Duty::sift ? how_ == Steering::by_hash && hash_ == HashKind::by_source
                              : how_ == Steering::by_backup;
}

Result<> SteeredBond::attach_to_bond(Order order, int program) {
    if (attached_ || tables_.transmit == 0) return {};
    TEAMO_TRY(hooks_.attach(bond_, Hook::egress, egress_duty(how_), order, program));
    attached_ = true;
    return {};
}

Result<> SteeredBond::help_bonding(Tables tables) {
    // What bonding itself delivers is not handed in: with all_slaves_active what a backup receives. The
    // active slave may be a backup when no daemon runs.
    if (tables.receive == tables.transmit) tables.receive = 0;
    TEAMO_TRY(programs_->apply(tables));
    Failures failures;
    failures.add(attach_to_bond(Order::late, programs_->send_by_backup()));
    for (const auto slot : tables.standby)
        if (const auto port = tables.ports[slot.value]; port && !on_slaves_[Duty::hand_in][port])
            failures.add(hand_in(port, (tables.transmit & bit(slot)) != 0));
    return failures.result();
}

/// A backup carries nothing, so that clsact, which kernels before 6.6 need, costs no packet there.
Result<> SteeredBond::hand_in(IfIndex port, bool carries) {
    if (carries && TEAMO_TRY(hooks_.makes_clsact(port, Hook::ingress, Duty::hand_in))) return {};
    TEAMO_TRY(hooks_.attach(port, Hook::ingress, Duty::hand_in, Order::late, programs_->hand_in()));
    on_slaves_[Duty::hand_in][port] = true;
    return {};
}

/// What is not needed goes, also that of an earlier daemon; what is needed comes with the next apply().
Result<> SteeredBond::steer(Steering how) {
    if (std::exchange(how_, how) != how) {
        attached_ = is_clean_ = false;
        // A device that goes while the bond is not steered may be back, and out of the maps, when it is.
        if (programs_) programs_->forget_applied();
    }
    if (is_clean_ || !bond_) return {};
    Failures failures;
    for (const auto other : {Steering::by_hash, Steering::by_backup})
        if (other != how) failures.add(hooks_.detach(bond_, Hook::egress, egress_duty(other)));
    for (auto& [duty, slaves] : on_slaves_)
        if (!needs(duty))
            std::erase_if(slaves, [&, duty = duty](const auto& slave) {
                const auto detached = hooks_.detach(slave.first, Hook::ingress, duty);
                failures.add(detached);
                return detached.has_value();
            });
    is_clean_ = failures.result().has_value();
    return failures.result();
}

Result<std::array<PortCounters, max_ports + 1>> SteeredBond::read_counters() {
    auto counters = counters_.read(tables_.ports);
    if (!counts_buckets()) return counters;
    const auto steered = TEAMO_TRY(programs_->read_counters());
    for (std::size_t slot = 1; slot < counters.size(); ++slot)
        counters[slot].tx_steered_bytes = steered[slot].tx_bytes;
    return counters;
}

Result<BucketCounters> SteeredBond::read_bucket(std::uint8_t bucket) {
    if (counts_buckets()) return programs_->read_bucket(bucket);
    return fail(is_steerable() ? EAGAIN : EOPNOTSUPP, "bonding chooses the slaves");
}

Result<AllBucketCounters> SteeredBond::read_buckets() {
    if (counts_buckets()) return programs_->read_buckets();
    return tl::unexpected(read_bucket(0).error());
}

} // namespace teamo
