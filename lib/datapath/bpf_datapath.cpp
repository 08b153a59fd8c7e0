// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bpf_datapath.h"

#include "datapath/pair_device.h"
#include "kernel/netlink/traffic_control.h"

namespace teamo {

Result<std::unique_ptr<BpfDatapath>> BpfDatapath::open(bool by_cpu) {
    auto programs = TEAMO_TRY(ForwardPrograms::load(TEAMO_EXIT_REDIRECT, by_cpu));
    return std::unique_ptr<BpfDatapath>(new BpfDatapath(std::move(programs)));
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
    if (device.kind == "netkit") return attach_netkit(device.team, programs().transmit());
    return attach_ingress(device.inner, programs().transmit());
}

Result<bool> BpfDatapath::makes_something(IfIndex port) const { return lacks_clsact(port); }

Result<> BpfDatapath::attach_port(IfIndex port, Slot /*slot*/) {
    return attach_ingress(port, programs().receive());
}

Result<> BpfDatapath::detach_port(IfIndex port, bool made) { return detach(port, made); }

} // namespace teamo
