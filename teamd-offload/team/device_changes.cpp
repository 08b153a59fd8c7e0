// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/device_changes.h"

#include "base/match.h"
#include "team/ports/port_device.h"

#include <linux/if.h>

#include <algorithm>

namespace teamo {

void DeviceChanges::begin(const Link& team) {
    mtu_ = team.mtu;
    limited_to_ = team.gso_max;
}

/// Restores a port's MTU that another program changed while the team's MTU stayed: with growing pauses, and a
/// limited number of times.
std::vector<Change> DeviceChanges::limit_mtu_repairs(std::vector<Change> list,
                                                     const std::vector<TeamPort>& ports) {
    std::erase_if(mtu_repairs_, [&ports](const auto& entry) {
        return std::ranges::find(ports, entry.first, &TeamPort::index) == ports.end();
    });
    const auto* team = context_.team();
    if (team == nullptr || team->mtu != mtu_) return list; // the team's own MTU was set: ports follow
    for (const auto& port : ports) {
        const auto sets_mtu = [&port](const Change& change) {
            const auto* set = std::get_if<SetMtu>(&change);
            return set != nullptr && set->device == port.index;
        };
        const auto found = std::ranges::find_if(list, sets_mtu);
        const bool wrong =
            found != list.end() && std::ranges::find(refused_, *found, &Refused::change) == refused_.end();
        const auto act = mtu_repairs_[port.index].step(wrong, Clock::now());
        if (!wrong) continue;
        const auto mtu = context_.link(port.index)->mtu;
        if (act == Repair::Act::attempt)
            context_.log(Level::notice, fmt::format("port {}: MTU {} is not the team's; set to {} again",
                                                    port.name, mtu, team->mtu));
        if (act == Repair::Act::give_up)
            context_.log(Level::warning, fmt::format("port {}: another program keeps setting MTU {}; giving "
                                                     "up. Configure that program to leave the MTU alone",
                                                     port.name, mtu));
        if (act != Repair::Act::attempt) list.erase(found);
    }
    return list;
}

void DeviceChanges::apply(std::vector<Change> wanted, const std::vector<TeamPort>& ports) {
    const auto list = limit_mtu_repairs(std::move(wanted), ports);
    std::erase_if(refused_, [&list](const Refused& refused) {
        return std::ranges::find(list, refused.change) == list.end();
    });
    for (const auto& change : list) {
        auto earlier = std::ranges::find(refused_, change, &Refused::change);
        const bool again = earlier != refused_.end();
        if (again && !(earlier->patience && earlier->patience->is_over(Clock::now()))) continue;
        const auto done = apply_one(change);
        if (done && again) refused_.erase(earlier);
        if (done) continue;
        if (!again) {
            context_.log(Level::warning, done.error().text);
            earlier =
                refused_.insert(refused_.end(), {.change = change, .text = {}, .patience = std::nullopt});
        }
        earlier->text = done.error().text;
        await_passing(earlier->patience, is_passing(done.error()), Clock::now());
        // A port that refuses the team's MTU would lose every larger packet: the team goes back to the MTU
        // that all ports had, as with the kernel's driver.
        if (std::holds_alternative<SetMtu>(change) && mtu_ != 0) {
            const auto team = context_.device.team;
            if (context_.control.set_mtu(team, mtu_)) context_.observer->edit(team)->mtu = mtu_;
            return;
        }
    }
    if (const auto* team = context_.team(); team != nullptr) mtu_ = team->mtu;
}

Result<> DeviceChanges::apply_one(const Change& change) {
    const auto index = std::visit([](const auto& one) { return one.device; }, change);
    auto* link = context_.observer->edit(index);
    if (link == nullptr) return {};
    auto& control = context_.control;
    const auto named = [name = link->name](Result<> done, std::string_view what) -> Result<> {
        if (!done && done.error().number != ENODEV)
            return within(fmt::format("{}: {}", name, what), std::move(done.error()));
        return {};
    };
    return std::visit(
        Match{[&](const SetAddress& set) {
                  return named(set_address_of(*link, set.to), fmt::format("address {}", text_of(set.to)));
              },
              [&](const SetMtu& set) {
                  auto done = control.set_mtu(index, set.to);
                  if (done) link->mtu = set.to;
                  return named(std::move(done), fmt::format("MTU {}", set.to));
              },
              [&](const SetSegmentLimits& set) {
                  auto done = control.set_segment_limits(index, set.to);
                  if (done) link->gso_max = limited_to_ = set.to;
                  return named(std::move(done), fmt::format("segmentation limits {} bytes, {} segments",
                                                            set.to.size, set.to.segs));
              },
              [&](const SetFlags& set) {
                  auto done = control.set_flags(index, set.flags, set.mask);
                  if (done) link->flags = (link->flags & ~set.mask) | set.flags;
                  if (done && (set.flags & IFF_UP) != 0) done = note_taken_down(index, false);
                  return named(std::move(done), "flags");
              }},
        change);
}

Result<> DeviceChanges::set_address_of(Link& link, const MacAddress& to) {
    const auto index = link.index;
    auto done = set_address(context_.control, link, to,
                            [this, index](bool down) { return note_taken_down(index, down); });
    if (done)
        link.address = to;
    else // read how far the change got
        static_cast<void>(context_.observer->read_now(index));
    return done;
}

/// Noted in the journal, so that a later daemon sets the port up again if we are killed meanwhile.
Result<> DeviceChanges::note_taken_down(IfIndex port, bool down) {
    auto* was = context_.journal.port(port);
    if (was == nullptr) return {};
    was->taken_down = down;
    return context_.journal.keep();
}

std::optional<Clock::time_point> DeviceChanges::deadline() const {
    std::optional<Clock::time_point> first;
    const auto at = [&first](std::optional<Clock::time_point> time) {
        if (time && (!first || *time < *first)) first = time;
    };
    for (const auto& refused : refused_)
        if (refused.patience) at(refused.patience->next());
    for (const auto& entry : mtu_repairs_)
        at(entry.second.deadline());
    return first;
}

std::vector<std::string> DeviceChanges::refused() const {
    std::vector<std::string> list;
    for (const auto& refused : refused_)
        list.push_back(refused.text);
    return list;
}

} // namespace teamo
