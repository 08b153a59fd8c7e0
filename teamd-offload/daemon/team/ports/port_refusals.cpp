// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Devices that could not become ports, and those that others use: when to try again, and what the state says.
#include "daemon/team/ports/port_set.h"
#include "kernel/netlink/addresses.h"

namespace teamo {

Takes PortSet::takes() const {
    return context_.datapath->kernel_manages_ports() ? Takes::untagged : Takes::all;
}

/// The kernel's drivers themselves refuse a device that another one uses. What cannot be read does not stop a
/// port.
bool PortSet::is_free_elsewhere(const Link& link) const {
    if (context_.datapath->kernel_manages_ports()) return true;
    const auto unicast = read_unicast_list(link.index);
    return !unicast || has_no_user_elsewhere(link, *unicast).has_value();
}

/// A device on a port of a pair is not refused by the kernel.
void PortSet::note_users() {
    for (auto& port : ports_) {
        const auto* link = context_.link(port.index);
        if (link == nullptr) continue;
        const auto users = users_of(context_.links(), *link, takes());
        port.users(context_.log, Level::warning, fmt::format("port {}: ", port.name),
                   users.empty()
                       ? std::string()
                       : fmt::format("carries {}, which receives nothing while it is a port; move it "
                                     "to {}",
                                     text_of(users), context_.name()));
    }
}

/// A port that was moved by hand to another team, a clone of a virtual machine's interface.
void PortSet::note_shared_address() {
    const auto* team = context_.team();
    if (team == nullptr || !team->is_up()) return shared_address_.clear();
    const auto others = sharing_address(context_.links(), *team);
    shared_address_(context_.log, Level::warning, "",
                    others.empty()
                        ? std::string()
                        : fmt::format("{0} is up with the address {1} of {2} too, which switches then "
                                      "learn at two places; give one of them another: ip link set "
                                      "{0} address ADDRESS",
                                      others.front()->name, text_of(team->address), team->name));
}

/// The kernel lets generic XDP skip what was redirected (net/core/dev.c: netif_receive_generic_xdp), so all
/// that a pair receives; native XDP is refused, because the inner end takes the largest packets.
void PortSet::note_idle_xdp() {
    const auto* team = context_.team();
    const bool idle = team != nullptr && team->has_xdp && !context_.datapath->kernel_manages_ports();
    idle_xdp_(
        context_.log, Level::warning, "",
        idle ? fmt::format("{} has an XDP program, which sees no frame there; attach it to the ports, or "
                           "use the datapath team or bond",
                           team->name)
             : std::string());
}

PortSet::Refused::State PortSet::state_of(const Link& link) const {
    Refused::State state{.device = link.index, .master = link.master, .altnames = link.altnames};
    for (const auto* user : users_of(context_.links(), link, takes()))
        state.users.push_back(user->index);
    return state;
}

/// Logged once. Tried again for ever: at once when another program has released the device, or when there is
/// another one of that name; soon if the reason passes by itself, and every 30 s whatever it was.
void PortSet::note_refusal(const std::string& port, IfIndex device, const Error& refusal) {
    auto& noted = refused_[port];
    if (noted.state.device != device) noted = {};
    noted.message(context_.log, Level::warning, fmt::format("port {}: ", port), refusal.text);
    const auto* link = context_.link(device);
    noted.state = link == nullptr ? Refused::State{} : state_of(*link);
    noted.has_user_elsewhere = refusal.number == EBUSY && link != nullptr && !is_free_elsewhere(*link);
    if (noted.patience.times() == 0 && !is_passing(refusal)) noted.patience = Patience::lasting();
    noted.patience.refused(Clock::now());
}

/// Users in other namespaces come and go without an event here.
bool PortSet::poll_refused() {
    return std::erase_if(refused_, [this](const auto& entry) {
               const auto& refused = entry.second;
               const auto* link = context_.link(refused.state.device);
               return refused.has_user_elsewhere && link != nullptr && is_free_elsewhere(*link);
           }) != 0;
}

bool PortSet::is_worth_trying(const std::string& port, const Link& link) const {
    const auto noted = refused_.find(port);
    if (noted == refused_.end()) return true;
    const auto& refused = noted->second;
    return refused.state != state_of(link) || refused.patience.is_over(Clock::now());
}

std::vector<RefusedStatus> PortSet::refused() const {
    std::vector<RefusedStatus> list;
    for (const auto& [port, refused] : refused_)
        list.push_back({.where = port, .what = refused.message.text()});
    for (const auto& [index, leaving] : leaving_)
        if (const auto* port = context_.journal.port(index))
            list.push_back({.where = port->name, .what = "is not restored yet"});
    for (const auto& port : ports_)
        if (const auto found = unattached_.find(port.index); found != unattached_.end())
            list.push_back({.where = port.name, .what = found->second.failure.text()});
    for (const auto& port : ports_)
        if (!port.users.text().empty()) list.push_back({.where = port.name, .what = port.users.text()});
    for (const auto* of_team : {&shared_address_, &idle_xdp_})
        if (!of_team->text().empty()) list.push_back({.where = context_.name(), .what = of_team->text()});
    return list;
}

} // namespace teamo
