// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/bond_datapath.h"

#include "datapath/bond/bond_setup.h"
#include "datapath/master_device.h"

namespace teamo {
Result<std::unique_ptr<BondDatapath>> BondDatapath::open(bool by_cpu, DevicePrograms& hooks) {
    auto links = TEAMO_TRY(LinkControl::open());
    auto programs = TEAMO_TRY(ForwardPrograms::load(TEAMO_EXIT_BOND, by_cpu));
    return std::unique_ptr<BondDatapath>(new BondDatapath(std::move(programs), hooks, std::move(links)));
}

Result<TeamDevice> BondDatapath::create_device(LinkControl& links, const std::string& name,
                                               const MacAddress& address) {
    return create_master_device(links, name, bond_kind,
                                links.create_bond(name, address, bond_mode_round_robin, bond_miimon));
}

Result<std::optional<TeamDevice>> BondDatapath::find_device(const Links& links, const std::string& name,
                                                            bool take_over) const {
    auto found = TEAMO_TRY(find_master_device(links, name, bond_kind, take_over));
    if (found) TEAMO_TRY(check_bond_mode(links, found->team, bond_mode_round_robin));
    return found;
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

} // namespace teamo
