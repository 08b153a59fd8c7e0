// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/bond_datapath.h"

#include "datapath/bond/bond_options.h"
#include "datapath/master_device.h"
#include "kernel/netlink/traffic_control.h"

namespace teamo {
Result<std::unique_ptr<BondDatapath>> BondDatapath::open(bool by_cpu) {
    auto links = TEAMO_TRY(LinkControl::open());
    auto programs = TEAMO_TRY(ForwardPrograms::load(TEAMO_EXIT_BOND, by_cpu));
    return std::unique_ptr<BondDatapath>(new BondDatapath(std::move(programs), std::move(links)));
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
    // Another program's bond may not check the links of its slaves.
    if (TEAMO_TRY(mark_master_device(links_, device.team)))
        TEAMO_TRY(links_.set_up_bond(device.team, bond_mode_round_robin, bond_miimon));
    team_ = device.team;
    TEAMO_TRY(apply(tables));
    return attach_egress(device.team, programs().transmit());
}

Result<bool> BondDatapath::makes_something(IfIndex port) const { return lacks_clsact(port); }

Result<> BondDatapath::attach_port(IfIndex port) {
    const auto link = TEAMO_TRY(links_.read(port));
    if (link.tx_queues > 1) TEAMO_TRY(attach_egress(port, programs().clear_queue()));
    // Before it is a slave, so that a port that should not receive never does.
    TEAMO_TRY(attach_ingress(port, programs().receive()));
    return enslave(links_, port, team_);
}

Result<> BondDatapath::detach_port(IfIndex port, bool made) {
    auto released = release_slave(links_, port, team_);
    auto detached = detach(port, made);
    return released ? detached : released;
}

Result<> BondDatapath::name_ports(const Tables& tables) {
    for (std::size_t slot = 1; slot < named_.size(); ++slot) {
        if (named_[slot] == tables.ports[slot]) continue;
        named_[slot] = {};
        if (!tables.ports[slot]) continue;
        auto done = links_.set_bond_queue(tables.ports[slot], static_cast<std::uint16_t>(slot));
        if (!done && done.error().number == ENODEV) continue; // gone: the next tables are without it
        TEAMO_TRY(within("cannot set the port's queue_id", std::move(done)));
        named_[slot] = tables.ports[slot];
    }
    return {};
}

Result<> BondDatapath::apply(const Tables& tables) {
    TEAMO_TRY(name_ports(tables));
    return ProgramDatapath::apply(tables);
}

} // namespace teamo
