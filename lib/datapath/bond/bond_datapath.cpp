// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/bond_datapath.h"

#include "datapath/master_device.h"

namespace teamo {
namespace {

/// How often bonding checks links. Until it has noticed that a link is back, the port is not used. A lost
/// link needs no check in balance-rr: bonding reads the carrier for each packet (bond_slave_is_up).
constexpr std::chrono::milliseconds bond_miimon{20};

Result<TeamDevice> create_bond_device(LinkControl& links, const std::string& name, const MacAddress& address,
                                      BondMode mode) {
    return create_master_device(links, name, bond_kind, links.create_bond(name, address, mode, bond_miimon));
}

/// EEXIST: the bond has another mode, or is of another program and has too few transmit queues for slots.
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

/// Gives a bond that was taken over from another program our options, and then the mark. Does nothing if it
/// has the mark.
Result<> claim_bond(LinkControl& links, IfIndex bond, BondMode mode) {
    if (TEAMO_TRY(is_marked_master(links, bond))) return {};
    TEAMO_TRY(links.set_up_bond(bond, mode, bond_miimon));
    // Two slaves cannot have the same queue_id, not even while they are exchanged.
    for (const auto& [index, link] : TEAMO_TRY(links.read_all()))
        if (link.master == bond && link.bond_queue != 0) TEAMO_TRY(links.set_bond_queue(index, 0));
    return mark_master_device(links, bond);
}

Result<std::optional<TeamDevice>> find_bond_device(const Links& links, const std::string& name,
                                                   bool take_over, BondMode mode) {
    auto found = TEAMO_TRY(find_master_device(links, name, bond_kind, take_over));
    if (found) TEAMO_TRY(check_bond_mode(links, found->team, mode));
    return found;
}

} // namespace

Result<std::unique_ptr<BondDatapath>> BondDatapath::open(bool by_cpu, DevicePrograms& hooks) {
    auto links = TEAMO_TRY(LinkControl::open());
    auto programs = TEAMO_TRY(ForwardPrograms::load(TEAMO_EXIT_BOND, by_cpu));
    return std::unique_ptr<BondDatapath>(new BondDatapath(std::move(programs), hooks, std::move(links)));
}

Result<TeamDevice> BondDatapath::create_device(LinkControl& links, const std::string& name,
                                               const MacAddress& address) {
    return create_bond_device(links, name, address, bond_mode_round_robin);
}

Result<std::optional<TeamDevice>> BondDatapath::find_device(const Links& links, const std::string& name,
                                                            bool take_over) const {
    return find_bond_device(links, name, take_over, bond_mode_round_robin);
}

Result<> BondDatapath::attach_team(const TeamDevice& device, const Tables& tables) {
    TEAMO_TRY(claim_bond(links_, device.team, bond_mode_round_robin));
    team_ = device.team;
    return apply(tables);
}

Result<bool> BondDatapath::lacks_program(IfIndex port) const {
    return !TEAMO_TRY(hooks().has(port, Hook::ingress, Duty::receive));
}

Result<> BondDatapath::attach_port(IfIndex port, Slot slot) {
    const auto link = TEAMO_TRY(links_.read(port));
    if (link.tx_queues > 1)
        TEAMO_TRY(
            hooks().attach(port, Hook::egress, Duty::clear_queue, Order::first, programs().clear_queue()));
    // Before it is a slave, so that a port that should not receive never does.
    TEAMO_TRY(hooks().attach(port, Hook::ingress, Duty::receive, Order::first, programs().receive()));
    TEAMO_TRY(enslave(links_, port, team_));
    if (link.bond_queue == slot.value) return {};
    return within("cannot set the queue_id", links_.set_bond_queue(port, slot.value));
}

Result<> BondDatapath::detach_port(IfIndex port, bool made_clsact) {
    auto released = release_slave(links_, port, team_);
    auto detached = hooks().detach_all(port, made_clsact);
    return released ? detached : released;
}

/// The transmit program drops what has no port, so it waits for the first one: until then a bond that was
/// taken over sends by its slaves.
Result<> BondDatapath::apply(const Tables& tables) {
    TEAMO_TRY(ProgramDatapath::apply(tables));
    if (attached_ || tables.ports == decltype(tables.ports){}) return {};
    TEAMO_TRY(hooks().attach(team_, Hook::egress, Duty::transmit, Order::first, programs().transmit()));
    attached_ = true;
    return {};
}

Result<std::unique_ptr<KernelHashDatapath>> KernelHashDatapath::open(DevicePrograms& hooks) {
    auto links = TEAMO_TRY(LinkControl::open());
    auto counters = TEAMO_TRY(SlaveCounters::open());
    return std::unique_ptr<KernelHashDatapath>(
        new KernelHashDatapath(hooks, std::move(links), std::move(counters)));
}

LinkSight KernelHashDatapath::link_sight() const {
    return {.sees = false,
            .reason = fmt::format("bonding chooses the ports, and checks their links every {} ms",
                                  bond_miimon.count())};
}

Result<TeamDevice> KernelHashDatapath::create_device(LinkControl& links, const std::string& name,
                                                     const MacAddress& address) {
    return create_bond_device(links, name, address, bond_mode_xor);
}

Result<std::optional<TeamDevice>> KernelHashDatapath::find_device(const Links& links, const std::string& name,
                                                                  bool take_over) const {
    return find_bond_device(links, name, take_over, bond_mode_xor);
}

Result<> KernelHashDatapath::attach_team(const TeamDevice& device, const Tables& tables) {
    TEAMO_TRY(claim_bond(links_, device.team, bond_mode_xor));
    team_ = device.team;
    return apply(tables);
}

Result<> KernelHashDatapath::attach_port(IfIndex port, Slot /*slot*/) {
    TEAMO_TRY(enslave(links_, port, team_));
    counters_.begin(port);
    return {};
}

Result<> KernelHashDatapath::detach_port(IfIndex port, bool made_clsact) {
    counters_.forget(port);
    auto released = release_slave(links_, port, team_);
    auto detached = hooks_.detach_all(port, made_clsact); // of a former team with programs
    return released ? detached : released;
}

Result<> KernelHashDatapath::apply(const Tables& tables) {
    ports_ = tables.ports;
    return {};
}

Result<std::array<PortCounters, max_ports + 1>> KernelHashDatapath::read_counters() {
    return counters_.read(ports_);
}

Result<BucketCounters> KernelHashDatapath::read_bucket(std::uint8_t /*bucket*/) {
    return fail(EOPNOTSUPP, "bonding chooses the ports, by its own hash");
}

Result<AllBucketCounters> KernelHashDatapath::read_buckets() {
    return tl::unexpected(read_bucket(0).error());
}

} // namespace teamo
