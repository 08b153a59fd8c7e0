// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/devices.h"

#include "base/match.h"
#include "kernel/files/files.h"
#include "kernel/netlink/addresses.h"

#include <linux/if.h>

#include <algorithm>

namespace teamo {
namespace {

IfIndex device_of(const Change& change) {
    return std::visit([](const auto& one) { return one.device; }, change);
}

} // namespace

void DeviceChanges::begin(const Link& team) {
    mtu_ = team.mtu;
    limited_to_ = team.gso_max;
}

bool DeviceChanges::sets_port_mtu(const Change& change) const {
    const auto* set = std::get_if<SetMtu>(&change);
    return set != nullptr && set->device != context_.device.inner;
}

/// None: the change follows the plan, not another program.
std::optional<DeviceChanges::Drift> DeviceChanges::drift_of(const Change& change) const {
    const auto* link = context_.link(device_of(change));
    const auto* team = context_.team();
    if (link == nullptr || team == nullptr) return std::nullopt;
    const bool is_inner = link->index == context_.device.inner;
    const auto where = fmt::format("{} {}", is_inner ? "inner end" : "port", link->name);
    const auto drift = [&](std::string_view repaired, std::string_view habit, std::string_view setting) {
        return Drift{.repaired = fmt::format("{}: {}", where, repaired),
                     .given_up = fmt::format("{}: another program repeatedly {}; the daemon no longer "
                                             "repairs this. Configure that program not to change {}",
                                             where, habit, setting)};
    };
    if (std::holds_alternative<DisableIpv6>(change))
        return drift("IPv6 is on; switched off again", "switches IPv6 on",
                     fmt::format("net.ipv6.conf.{}.disable_ipv6", link->name));
    const auto* mtu = std::get_if<SetMtu>(&change);
    if (mtu == nullptr || (!is_inner && team->mtu != mtu_)) return std::nullopt; // ports follow the team
    return drift(fmt::format("MTU {} is not {}; set to {} again", link->mtu,
                             is_inner ? "the largest" : "the team's", mtu->to),
                 fmt::format("sets MTU {}", link->mtu), "the MTU");
}

/// Undoes what another program changed: with growing pauses, and a limited number of times.
std::vector<Change> DeviceChanges::limit_repairs(std::vector<Change> list) {
    const auto now = Clock::now();
    const auto setting_of = [](const Change& change) { return std::pair(device_of(change), change.index()); };
    std::map<std::pair<IfIndex, std::size_t>, Drift> drifts;
    for (const auto& change : list)
        if (auto drift = drift_of(change);
            drift && std::ranges::find(refused_, change, &Refused::change) == refused_.end())
            drifts.emplace(setting_of(change), std::move(*drift));
    std::erase_if(repairs_, [this](const auto& entry) {
        const auto device = entry.first.first;
        return device != context_.device.inner && context_.journal.port(device) == nullptr;
    });
    for (auto& [setting, repaired] : repairs_)
        if (!drifts.contains(setting)) repaired.repair.step(false, now);
    std::erase_if(list, [&](const Change& change) {
        const auto drift = drifts.find(setting_of(change));
        if (drift == drifts.end()) return false;
        auto& repaired = repairs_[drift->first];
        const auto act = repaired.repair.step(true, now);
        repaired.given_up = drift->second.given_up;
        if (act == Repair::Act::attempt) context_.log(Level::notice, drift->second.repaired);
        if (act == Repair::Act::give_up) context_.log(Level::warning, drift->second.given_up);
        return act != Repair::Act::attempt;
    });
    return list;
}

void DeviceChanges::spare_replaced(std::vector<Change>& list, const std::vector<TeamPort>& ports) const {
    std::erase_if(list, [&](const Change& change) {
        const auto index = device_of(change);
        return std::ranges::find(ports, index, &TeamPort::index) != ports.end() &&
               context_.is_replaced(index);
    });
}

void DeviceChanges::apply(std::vector<Change> wanted, const std::vector<TeamPort>& ports) {
    spare_replaced(wanted, ports);
    const auto list = limit_repairs(std::move(wanted));
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
        if (!sets_port_mtu(change) || mtu_ == 0) continue;
        if (known->patience && known->patience->times() < Patience::many) continue;
        // A port that refuses the team's MTU would lose every larger packet: the team goes back to the MTU
        // that all ports had, as with the kernel's driver.
        const auto team = context_.device.team;
        if (again) context_.log(Level::warning, fmt::format("the team returns to the MTU {}", mtu_));
        if (context_.control.set_mtu(team, mtu_))
            context_.observer->edit(team, [this](Link& link) { link.mtu = mtu_; });
        return;
    }
    const bool waits_for_mtu = std::ranges::any_of(refused_, [this](const Refused& refused) {
        return sets_port_mtu(refused.change) && refused.patience;
    });
    if (const auto* team = context_.team(); team != nullptr && !waits_for_mtu) mtu_ = team->mtu;
}

Result<> DeviceChanges::apply_one(const Change& change) {
    const auto* link = context_.link(device_of(change));
    if (link == nullptr) return {};
    const auto name = link->name;
    auto done = set(*link, change);
    if (!done && done.error().number == ENODEV) return {}; // nothing is left to change
    if (!done) done = within(fmt::format("{}: {}", name, text_of(change)), std::move(done.error()));
    if (context_.log.traces())
        context_.log(Level::debug, done ? fmt::format("set {}: {}", name, text_of(change))
                                        : "refused " + done.error().text);
    return done;
}

/// The change of one device, which is known to be so afterwards.
Result<> DeviceChanges::set(const Link& link, const Change& change) {
    auto& control = context_.control;
    const auto index = link.index;
    const auto note = [&](const std::function<void(Link&)>& edit) { context_.observer->edit(index, edit); };
    return std::visit(
        Match{[&](const SetAddress& set) {
                  auto done = set_address(context_, link, set.to, context_.journal.port(index));
                  if (done)
                      note([&set](Link& one) { one.address = set.to; });
                  else // read how far the change got
                      static_cast<void>(context_.observer->read_now(index));
                  return done;
              },
              [&](const SetMtu& set) {
                  auto done = control.set_mtu(index, set.to);
                  if (done) note([&set](Link& one) { one.mtu = set.to; });
                  return done;
              },
              [&](const SetSegmentLimits& set) {
                  auto done = control.set_segment_limits(index, set.to);
                  if (done) limited_to_ = set.to;
                  if (done) note([&set](Link& one) { one.gso_max = set.to; });
                  return done;
              },
              [&](const SetCarrier& set) {
                  auto done = control.set_carrier(index, set.to);
                  if (done) carrier_set_ = set.to;
                  if (done && link.is_up())
                      note([&](Link& one) {
                          constexpr std::uint32_t carrier = IFF_LOWER_UP; // linkwatch sets RUNNING
                          one.flags = set.to ? one.flags | carrier : one.flags & ~carrier;
                      });
                  return done;
              },
              [&](const DisableIpv6&) {
                  auto done = write_disable_ipv6(link.name, true);
                  // Events from before, which are still to be read, show it on.
                  static_cast<void>(context_.observer->read_now(index));
                  return done;
              },
              [&](const SetFlags& set) {
                  auto done = control.set_flags(index, set.flags, set.mask);
                  if (done) note([&set](Link& one) { one.flags = (one.flags & ~set.mask) | set.flags; });
                  if (done && (set.flags & IFF_UP) != 0)
                      done = note_taken_down(context_, context_.journal.port(index), false);
                  return done;
              }},
        change);
}

std::optional<Clock::time_point> DeviceChanges::deadline() const {
    std::optional<Clock::time_point> first;
    for (const auto& refused : refused_)
        if (refused.patience) first = earlier(first, refused.patience->next());
    for (const auto& [setting, repaired] : repairs_)
        first = earlier(first, repaired.repair.deadline());
    return first;
}

std::vector<std::string> DeviceChanges::refused() const {
    std::vector<std::string> list;
    for (const auto& refused : refused_)
        list.push_back(refused.text);
    for (const auto& [setting, repaired] : repairs_)
        if (repaired.repair.has_given_up()) list.push_back(repaired.given_up);
    return list;
}

bool UpperDevices::update() {
    const auto& device = context_.device;
    const auto* team = context_.team();
    if (team == nullptr) return false;
    std::vector<std::pair<IfIndex, std::uint32_t>> uppers{{team->master, 0}};
    for (const auto* link : context_.links_on(device.team))
        if (link->index != device.inner) uppers.emplace_back(link->index, link->flags);
    if (uppers == uppers_) return false;
    uppers_ = std::move(uppers);
    update_addresses();
    return true; // VLANs and bridges change what ports receive, also with the same addresses
}

std::set<IfIndex> UpperDevices::all() const {
    std::set<IfIndex> found;
    std::vector<IfIndex> to_visit{context_.device.team};
    while (!to_visit.empty()) {
        const auto lower = to_visit.back();
        to_visit.pop_back();
        const auto add = [&](IfIndex device) {
            if (device && device != context_.device.inner && found.insert(device).second)
                to_visit.push_back(device);
        };
        if (const auto* link = context_.link(lower)) add(link->master);
        for (const auto* link : context_.links_on(lower))
            add(link->index);
    }
    return found;
}

bool UpperDevices::update_addresses(bool all) {
    auto now = context_.control.read(context_.device.team);
    if (context_.team() == nullptr || !now) return false; // tried again by the next poll
    // An event may have told the promiscuity, but not the list.
    const bool is_same = now->promiscuity == listed_promiscuity_;
    if (is_same && !all) return false;
    Result<std::vector<MacAddress>> list{};
    if (may_list_addresses(*now)) list = read_unicast_list(context_.device.team);
    if (!list) return false;
    listed_promiscuity_ = now->promiscuity;
    if (is_same && *list == unicast_list_) return false;
    context_.observer->edit(context_.device.team, [&now](Link& link) { link = std::move(*now); });
    unicast_list_ = std::move(*list);
    return true;
}

} // namespace teamo
