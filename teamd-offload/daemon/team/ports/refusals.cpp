// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/ports/refusals.h"

#include "kernel/netlink/addresses.h"

namespace teamo {

Takes Refusals::takes() const {
    return context_.datapath->kernel_manages_ports() ? Takes::untagged : Takes::all;
}

/// The kernel's drivers themselves refuse a device that another one uses. What cannot be read does not stop a
/// port.
bool Refusals::is_free_elsewhere(const Link& link) const {
    if (context_.datapath->kernel_manages_ports()) return true;
    const auto unicast = read_unicast_list(link.index);
    return !unicast || has_no_user_elsewhere(link, *unicast).has_value();
}

Refusals::Refused::State Refusals::state_of(const Link& link) const {
    Refused::State state{.device = link.index, .master = link.master, .altnames = link.altnames};
    for (const auto* user : users_among(context_.links_on(link.index), takes()))
        state.users.push_back(user->index);
    return state;
}

void Refusals::note(const std::string& port, IfIndex device, const Error& refusal) {
    auto& noted = refused_[port];
    if (noted.state.device != device) noted = {};
    noted.message(context_.log, Level::warning, fmt::format("port {}: ", port), refusal.text);
    const auto* link = context_.link(device);
    noted.state = link == nullptr ? Refused::State{} : state_of(*link);
    noted.has_user_elsewhere = refusal.number == EBUSY && link != nullptr && !is_free_elsewhere(*link);
    if (noted.patience.times() == 0 && !is_passing(refusal)) noted.patience = Patience::lasting();
    noted.patience.refused(Clock::now());
}

bool Refusals::poll() {
    return std::erase_if(refused_, [this](const auto& entry) {
               const auto& refused = entry.second;
               const auto* link = context_.link(refused.state.device);
               return refused.has_user_elsewhere && link != nullptr && is_free_elsewhere(*link);
           }) != 0;
}

bool Refusals::is_worth_trying(const std::string& port, const Link& link) const {
    const auto noted = refused_.find(port);
    if (noted == refused_.end()) return true;
    const auto& refused = noted->second;
    return refused.state != state_of(link) || refused.patience.is_over(Clock::now());
}

void Refusals::forget_if(const std::function<bool(const std::string& port, IfIndex device)>& is_over) {
    std::erase_if(refused_,
                  [&](const auto& entry) { return is_over(entry.first, entry.second.state.device); });
}

std::optional<Clock::time_point> Refusals::deadline() const {
    std::optional<Clock::time_point> first;
    for (const auto& [port, refused] : refused_)
        first = earlier(first, refused.patience.next());
    return first;
}

void Refusals::add_to(std::vector<RefusedStatus>& list) const {
    for (const auto& [port, refused] : refused_)
        list.push_back({.where = port, .what = refused.message.text()});
}

} // namespace teamo
