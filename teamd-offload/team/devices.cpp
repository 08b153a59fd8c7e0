// SPDX-License-Identifier: LGPL-2.1-or-later
#include "team/devices.h"

#include "base/match.h"
#include "kernel/netlink/addresses.h"

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

void DeviceChanges::spare_replaced(std::vector<Change>& list, const std::vector<TeamPort>& ports) const {
    std::erase_if(list, [&](const Change& change) {
        const auto index = std::visit([](const auto& one) { return one.device; }, change);
        return std::ranges::find(ports, index, &TeamPort::index) != ports.end() &&
               context_.is_replaced(index);
    });
}

void DeviceChanges::apply(std::vector<Change> wanted, const std::vector<TeamPort>& ports) {
    spare_replaced(wanted, ports);
    const auto list = limit_mtu_repairs(std::move(wanted), ports);
    std::erase_if(refused_, [&list](const Refused& refused) {
        return std::ranges::find(list, refused.change) == list.end();
    });
    for (const auto& change : list) {
        auto known = std::ranges::find(refused_, change, &Refused::change);
        const bool again = known != refused_.end();
        if (again && !(known->patience && known->patience->is_over(Clock::now()))) continue;
        const auto done = apply_one(change);
        if (done && again) refused_.erase(known);
        if (done) continue;
        if (!again) {
            context_.log(Level::warning, done.error().text);
            known = refused_.insert(refused_.end(), {.change = change});
        }
        known->text = done.error().text;
        await_passing(known->patience, is_passing(done.error()), Clock::now());
        if (!std::holds_alternative<SetMtu>(change) || mtu_ == 0) continue;
        if (known->patience && known->patience->times() < Patience::many) continue;
        // A port that refuses the team's MTU would lose every larger packet: the team goes back to the MTU
        // that all ports had, as with the kernel's driver.
        const auto team = context_.device.team;
        if (again) context_.log(Level::warning, fmt::format("the team returns to the MTU {}", mtu_));
        if (context_.control.set_mtu(team, mtu_)) context_.observer->edit(team)->mtu = mtu_;
        return;
    }
    const bool waits_for_mtu = std::ranges::any_of(refused_, [](const Refused& refused) {
        return std::holds_alternative<SetMtu>(refused.change) && refused.patience;
    });
    if (const auto* team = context_.team(); team != nullptr && !waits_for_mtu) mtu_ = team->mtu;
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
                  auto done = set_address(context_, *link, set.to, context_.journal.port(index));
                  if (done)
                      link->address = set.to;
                  else // read how far the change got
                      static_cast<void>(context_.observer->read_now(index));
                  return named(std::move(done), fmt::format("address {}", text_of(set.to)));
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
              [&](const SetCarrier& set) {
                  auto done = control.set_carrier(index, set.to);
                  constexpr std::uint32_t link_flags = IFF_RUNNING | IFF_LOWER_UP;
                  if (done) carrier_set_ = set.to;
                  if (done && link->is_up())
                      link->flags = set.to ? link->flags | link_flags : link->flags & ~link_flags;
                  return named(std::move(done), "carrier");
              },
              [&](const SetBondQueue& set) {
                  auto done = control.set_bond_queue(index, set.to);
                  if (done) link->bond_queue = set.to;
                  return named(std::move(done), fmt::format("queue_id {}", set.to));
              },
              [&](const SetFlags& set) {
                  auto done = control.set_flags(index, set.flags, set.mask);
                  if (done) link->flags = (link->flags & ~set.mask) | set.flags;
                  if (done && (set.flags & IFF_UP) != 0)
                      done = note_taken_down(context_, context_.journal.port(index), false);
                  return named(std::move(done), "flags");
              }},
        change);
}

std::optional<Clock::time_point> DeviceChanges::deadline() const {
    std::optional<Clock::time_point> first;
    for (const auto& refused : refused_)
        if (refused.patience) first = earlier(first, refused.patience->next());
    for (const auto& [port, repair] : mtu_repairs_)
        first = earlier(first, repair.deadline());
    return first;
}

std::vector<std::string> DeviceChanges::refused() const {
    std::vector<std::string> list;
    for (const auto& refused : refused_)
        list.push_back(refused.text);
    return list;
}

bool UpperDevices::update() {
    const auto& device = context_.device;
    const auto* team = context_.team();
    if (team == nullptr) return false;
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers{{team->master, 0}};
    for (const auto& [index, link] : context_.links())
        if (link.lower == device.team && !link.lower_elsewhere && link.index != device.inner)
            uppers.emplace_back(index, link.flags);
    if (uppers == uppers_) return false;
    uppers_ = std::move(uppers);
    update_addresses();
    return true; // VLANs and bridges change what ports receive, also with the same addresses
}

bool UpperDevices::update_addresses() {
    auto* known = context_.observer->edit(context_.device.team);
    auto now = context_.control.read(context_.device.team);
    auto list = read_unicast_list(context_.device.team);
    if (known == nullptr || !now || !list) return false; // tried again by the next poll
    if (now->promiscuity == known->promiscuity && *list == unicast_list_) return false;
    *known = std::move(*now);
    unicast_list_ = std::move(*list);
    return true;
}

} // namespace teamo
