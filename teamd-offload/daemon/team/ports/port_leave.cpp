// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a port leaves the team and its device is restored. The pass between the two moves its traffic to other
// ports first.
#include "base/result.h"
#include "daemon/team/ports/port_set.h"

#include <linux/if.h>

#include <algorithm>
#include <thread>

namespace teamo {

/// Ports whose device was removed although the index exists. After lost events a device without our mark or
/// our filter counts as such: the kernel removes the filter when a device is removed or moved. Nothing tells
/// a device that was refused from another one, so it is tried again.
std::set<IfIndex> PortSet::replaced() {
    auto removed = context_.observer->take_removed();
    std::erase_if(removed, [this](IfIndex index) { return context_.link(index) == nullptr; });
    if (!context_.observer->take_gap()) return removed;
    const bool by_master = context_.datapath->kernel_manages_ports();
    for (const auto& port : ports_) {
        const auto* link = context_.link(port.index);
        const auto* before = context_.journal.port(port.index);
        if (link == nullptr) continue;
        const bool left = by_master && before != nullptr && link->master != context_.device.team;
        // A slave of a bond of others that has only left is found by its master.
        if ((!context_.datapath->is_guest() && context_.is_replaced(port.index)) ||
            context_.datapath->lacks_program(port.index).value_or(false) ||
            (left && entries_.was_moved(*before, *link)))
            removed.insert(port.index);
    }
    refusals_.clear();
    return removed;
}

Result<> PortSet::begin_leaving(IfIndex port) {
    const auto found = std::ranges::find(ports_, port, &TeamPort::index);
    if (found == ports_.end()) return fail(ENODEV, "is not a port of the team");
    leaving_[port] = {.requested = true, .name = found->name};
    if (auto* was = context_.journal.port(port)) was->state = PortState::leaving;
    remove(port);
    leave_failures_.erase(port);
    return {};
}

Result<> PortSet::take_leave_result(IfIndex port) {
    const auto failed = leave_failures_.extract(port);
    return failed ? tl::unexpected(failed.mapped()) : Result<>();
}

void PortSet::begin_leaving_all() {
    ends_ = true;
    awaited_.clear();
    for (const auto& port : std::vector(ports_))
        static_cast<void>(begin_leaving(port.index));
    // Ports whose join was not finished, and devices that were ports, returned, and did not join again.
    for (auto& port : context_.journal.edit().ports)
        if (port.state == PortState::joining) {
            port.state = PortState::leaving;
            leaving_[port.index] = {.name = port.name};
        }
    for (const auto& [index, link] : context_.links()) {
        const auto slot = context_.marked_slot(link);
        if (!slot || context_.journal.port(index) != nullptr) continue;
        auto port = entries_.begin(link, *slot);
        port.state = PortState::leaving;
        context_.journal.edit().ports.push_back(std::move(port));
        leaving_[index] = {.name = link.name};
    }
}

std::size_t PortSet::await_leaving(Clock::time_point until) {
    for (auto& entry : leaving_)
        entry.second.patience = {};
    finish_due_leaves();
    while (!leaving_.empty() && Clock::now() < until) {
        auto first = until;
        for (const auto& [port, leaving] : leaving_)
            first = std::min(first, leaving.patience.next());
        std::this_thread::sleep_until(first);
        finish_due_leaves();
    }
    return leaving_.size();
}

bool PortSet::finish_due_leaves() {
    const auto now = Clock::now();
    bool any = false;
    for (const auto& [port, leaving] : std::map(leaving_)) {
        if (!leaving.patience.is_over(now)) continue;
        any = true;
        context_.journal.save(); // that it is leaving, before its device is touched
        const auto finished = finish_leaving(port);
        const bool again = leaving_.contains(port);
        if (leaving.requested && !again) context_.log.port(Level::info, leaving.name, " left");
        if (again) leaving_[port].logged = true;
        if (finished || leaving.logged) continue;
        context_.log(Level::warning, fmt::format("port {}: {}{}", leaving.name, finished.error().text,
                                                 again ? "; trying again" : ""));
        if (leaving.requested && !again) leave_failures_.emplace(port, finished.error());
    }
    return any;
}

/// Restores a port that is leaving and removes its entry. A passing failure is tried again (leaving_).
Result<> PortSet::finish_leaving(IfIndex port) {
    const auto* was = context_.journal.port(port);
    if (was == nullptr) {
        leaving_.erase(port);
        return {};
    }
    subsystems_.offloads->end_trial(port);
    const auto now = context_.observer->read_now(port);
    const auto known = leaving_.find(port);
    const bool removed_by_others = known != leaving_.end() && known->second.removed_by_others;
    Result<> finished;
    if (now && entries_.is_ours(*now)) {
        const bool has_another_master = now->master && now->master != context_.device.team;
        const bool stays_down = (was->flags & IFF_UP) != 0 && devices_.keeps_address(*was, team_goes_on());
        finished = devices_.restore(*was, removed_by_others || has_another_master, team_goes_on());
        if (finished && stays_down)
            context_.log(
                Level::warning,
                fmt::format("port {0}: stays down, because {1} still uses the MAC address {2} of this port; "
                            "give {0} another address, then set it up: ip link set {0} address ADDRESS",
                            now->name, context_.name(), text_of(context_.team()->address)));
    } else if (!now && now.error().number != ENODEV) {
        finished = tl::unexpected(now.error());
    }
    if (!finished && is_passing(finished.error())) {
        auto& leaving = leaving_[port];
        if (leaving.name.empty()) leaving.name = was->name;
        leaving.patience.refused(Clock::now());
        return finished;
    }
    std::erase_if(context_.journal.edit().ports, [port](const PortBefore& one) { return one.index == port; });
    leaving_.erase(port);
    static_cast<void>(context_.journal.keep()); // save() logs a failure; the port is out either way
    static_cast<void>(context_.observer->read_now(port));
    return finished;
}

} // namespace teamo
