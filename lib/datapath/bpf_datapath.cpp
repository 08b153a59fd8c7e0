// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bpf_datapath.h"

#include "datapath/pair_device.h"

namespace teamo {

Result<std::unique_ptr<BpfDatapath>> BpfDatapath::open(bool by_cpu, const std::string& team,
                                                       DevicePrograms& hooks) {
    auto programs = TEAMO_TRY(ForwardPrograms::load(TEAMO_EXIT_REDIRECT, by_cpu));
    return std::unique_ptr<BpfDatapath>(new BpfDatapath(std::move(programs), team, hooks));
}

Result<TeamDevice> BpfDatapath::create_device(LinkControl& links, const std::string& name,
                                              const MacAddress& address) {
    return create_pair_device(links, name, address);
}

Result<std::optional<TeamDevice>> BpfDatapath::find_device(const Links& links, const std::string& name,
                                                           bool /*take_over*/) const {
    return find_pair_device(links, name);
}

Result<> BpfDatapath::attach_team(const TeamDevice& device, const Tables& tables) {
    TEAMO_TRY(apply(tables));
    TEAMO_TRY(accepted_.begin(device.inner));
    if (device.kind == "netkit")
        return hooks().attach(device.team, Hook::netkit, Duty::transmit, Order::first, programs().transmit());
    return hooks().attach(device.inner, Hook::ingress, Duty::transmit, Order::first, programs().transmit());
}

Result<bool> BpfDatapath::lacks_program(IfIndex port) const {
    return !TEAMO_TRY(hooks().has(port, Hook::ingress, Duty::receive));
}

Result<> BpfDatapath::attach_port(IfIndex port, Slot /*slot*/) {
    return hooks().attach(port, Hook::ingress, Duty::receive, Order::last, programs().receive());
}

Result<> BpfDatapath::apply(const Tables& tables) {
    port_protocol_ = tables.port_protocol;
    return ProgramDatapath::apply(tables);
}

Result<> BpfDatapath::detach_port(IfIndex port, bool made_clsact) {
    TEAMO_TRY(accepted_.remove(port));
    return hooks().detach_all(port, made_clsact);
}

} // namespace teamo
