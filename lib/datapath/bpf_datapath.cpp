// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bpf_datapath.h"

#include "kernel/files/files.h"
#include "model/observation.h"

#include <linux/if.h>

namespace teamo {
namespace {

/// The inner end has no addresses, no neighbours and the largest MTU.
Result<> set_up_inner(LinkControl& links, const Link& inner, const std::string& team) {
    TEAMO_TRY(links.add_altname(inner.index, inner_mark(team)));
    TEAMO_TRY(links.set_alias(inner.index, fmt::format("inner end of {} (teamd-offload)", team)));
    TEAMO_TRY(links.set_flags(inner.index, IFF_NOARP, IFF_NOARP));
    TEAMO_TRY(links.set_mtu(inner.index, inner_mtu));
    // While it is down it has no addresses; when up it would send router solicitations into the team's
    // receive path.
    return write_disable_ipv6(inner.name, true);
}

/// netkit if the kernel has it: its program runs inside the transmit function, which saves a softirq.
Result<std::string> create_pair(LinkControl& links, const std::string& name, const MacAddress& address) {
    // Numbered by the kernel, because the team's name may already have 15 letters.
    const auto inner_names = fmt::format("{}%d", inner_name_prefix);
    if (auto made = links.create_pair("netkit", name, inner_names, address); made)
        return std::string("netkit");
    TEAMO_TRY(links.create_pair("veth", name, inner_names, address));
    return std::string("veth");
}

Result<TeamDevice> set_up(LinkControl& links, const Link& team, const std::string& kind) {
    const auto inner = TEAMO_TRY(links.read(team.lower));
    TEAMO_TRY(set_up_inner(links, inner, team.name));
    TEAMO_TRY(links.set_alias(team.index, fmt::format("{} (teamd-offload)", team.name)));
    // The team's mark is set last: a device that has it is complete.
    TEAMO_TRY(links.add_altname(team.index, team_mark(team.name)));
    return TeamDevice{.team = team.index, .inner = inner.index, .kind = kind};
}

} // namespace

Result<std::unique_ptr<BpfDatapath>> BpfDatapath::open(HashKind hash, const std::string& team,
                                                       DevicePrograms& hooks) {
    auto programs = TEAMO_TRY(ForwardPrograms::load(TEAMO_EXIT_REDIRECT, hash));
    return std::unique_ptr<BpfDatapath>(new BpfDatapath(std::move(programs), team, hooks));
}

LinkSight BpfDatapath::link_sight() const {
    if (programs_.see_links()) return {.sees = true, .reason = {}};
    return {.sees = false, .reason = "the kernel refuses a BPF program that reads the ports' devices"};
}

Result<TeamDevice> BpfDatapath::create_device(LinkControl& links, const std::string& name,
                                              const MacAddress& address) {
    const auto kind = create_pair(links, name, address);
    if (!kind) return within(fmt::format("cannot create device {}", name), kind.error());
    const auto team = links.read(name);
    if (!team) return fail(ENODEV, fmt::format("device {} disappeared while it was created", name));
    auto device = set_up(links, *team, *kind);
    if (!device) {
        static_cast<void>(links.remove(team->index)); // the first failure is reported
        return within(fmt::format("cannot set up device {}", team->name), std::move(device.error()));
    }
    return device;
}

Result<std::optional<TeamDevice>> find_pair(const Links& links, const std::string& name) {
    const auto* team = find_team(links, name);
    const auto* inner = find_altname(links, inner_mark(name));
    if (team == nullptr && inner != nullptr)
        return fail(
            EEXIST,
            fmt::format("device {0} is in another network namespace, and its inner end {1} here; move it "
                        "back (ip -n NAMESPACE link set {0} netns PID), or remove both (ip link del {1})",
                        name, inner->name));
    if (team == nullptr) return std::optional<TeamDevice>();
    if (team->kind == "team")
        return fail(EEXIST,
                    fmt::format("device {0} exists and is of the kernel's team driver, as NetworkManager "
                                "makes it, which the BPF datapath cannot use; set \"datapath\" to "
                                "\"auto\", or use the unit teamd-offload@{0} without a team connection",
                                name));
    if (find_altname(links, team_mark(name)) != team)
        return fail(EEXIST, fmt::format("device {0} exists and is not a team of teamd-offload; remove it (ip "
                                        "link del {0}), or start with -r to replace it",
                                        name));
    if (inner == nullptr)
        return fail(EEXIST, fmt::format("device {0} has lost its inner end; remove it (ip link del {0}), or "
                                        "start with -r",
                                        name));
    return std::optional(TeamDevice{.team = team->index, .inner = inner->index, .kind = team->kind});
}

Result<std::optional<TeamDevice>> BpfDatapath::find_device(const Links& links, const std::string& name,
                                                           bool /*take_over*/) const {
    return find_pair(links, name);
}

Result<> BpfDatapath::attach_team(const TeamDevice& device, const Tables& tables) {
    TEAMO_TRY(apply(tables));
    TEAMO_TRY(accepted_.begin(device.inner));
    if (device.kind == "netkit")
        return hooks_.attach(device.team, Hook::netkit, Duty::transmit, Order::first, programs_.transmit());
    return hooks_.attach(device.inner, Hook::ingress, Duty::transmit, Order::first, programs_.transmit());
}

Result<bool> BpfDatapath::lacks_program(IfIndex port) const {
    return !TEAMO_TRY(hooks_.has(port, Hook::ingress, Duty::receive));
}

Result<> BpfDatapath::attach_port(IfIndex port, Slot /*slot*/) {
    return hooks_.attach(port, Hook::ingress, Duty::receive, Order::last, programs_.receive());
}

Result<> BpfDatapath::apply(const Tables& tables) {
    port_protocol_ = tables.port_protocol;
    return programs_.apply(tables);
}

Result<> BpfDatapath::detach_port(IfIndex port, bool made_clsact) {
    // With our program the port would receive nothing for anybody else, whatever becomes of the rules.
    Failures failures;
    failures.add(accepted_.remove(port));
    failures.add(hooks_.detach_all(port, made_clsact));
    return failures.result();
}

} // namespace teamo
