// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bond/kernel_hash_datapath.h"

#include "datapath/bond/bond_setup.h"
#include "datapath/master_device.h"

namespace teamo {

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
    return create_master_device(links, name, bond_kind,
                                links.create_bond(name, address, bond_mode_xor, bond_miimon));
}

Result<std::optional<TeamDevice>> KernelHashDatapath::find_device(const Links& links, const std::string& name,
                                                                  bool take_over) const {
    auto found = TEAMO_TRY(find_master_device(links, name, bond_kind, take_over));
    if (found) TEAMO_TRY(check_bond_mode(links, found->team, bond_mode_xor));
    return found;
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
