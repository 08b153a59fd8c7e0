// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/queue_bond.h"

#include "datapath/master_device.h"

namespace teamo {

Result<std::unique_ptr<QueueBond>> QueueBond::open(bool by_cpu, DevicePrograms& hooks) {
    auto links = TEAMO_TRY(LinkControl::open());
    auto programs = TEAMO_TRY(ForwardPrograms::load(TEAMO_EXIT_QUEUE, by_cpu));
    return std::unique_ptr<QueueBond>(new QueueBond(std::move(programs), hooks, std::move(links)));
}

Result<TeamDevice> QueueBond::create_device(LinkControl& links, const std::string& name,
                                            const MacAddress& address) {
    return create_bond_device(links, name, address, {.mode = bond_mode_round_robin});
}

Result<std::optional<TeamDevice>> QueueBond::find_device(const Links& links, const std::string& name,
                                                         bool take_over) const {
    return find_bond_device(links, name, take_over, bond_mode_round_robin);
}

Result<> QueueBond::attach_team(const TeamDevice& device, const Tables& tables) {
    TEAMO_TRY(claim_bond(links_, device.team, {.mode = bond_mode_round_robin}));
    team_ = device.team;
    return apply(tables);
}

Result<bool> QueueBond::lacks_program(IfIndex port) const {
    return !TEAMO_TRY(hooks().has(port, Hook::ingress, Duty::receive));
}

Result<> QueueBond::attach_port(IfIndex port, Slot slot) {
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

Result<> QueueBond::detach_port(IfIndex port, bool made_clsact) {
    auto released = release_slave(links_, port, team_);
    auto detached = hooks().detach_all(port, made_clsact);
    return released ? detached : released;
}

/// The transmit program drops what has no port, so it waits for the first one: until then a bond that was
/// taken over sends by its slaves.
Result<> QueueBond::apply(const Tables& tables) {
    TEAMO_TRY(ProgramDatapath::apply(tables));
    if (attached_ || tables.ports == decltype(tables.ports){}) return {};
    TEAMO_TRY(hooks().attach(team_, Hook::egress, Duty::transmit, Order::first, programs().transmit()));
    attached_ = true;
    return {};
}

} // namespace teamo
