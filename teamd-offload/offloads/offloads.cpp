// SPDX-License-Identifier: LGPL-2.1-or-later
#include "offloads/offloads.h"

#include "plan/team/make_plan.h"

#include <sys/epoll.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace teamo {
namespace {

std::string text_of(const FeatureNames& names) { return fmt::format("{}", fmt::join(names, ", ")); }

FeatureNames those(const FeatureSettings& settings, bool on) {
    FeatureNames names;
    for (const auto& [name, state] : settings)
        if (state == on) names.insert(name);
    return names;
}

/// "tx-checksum-ipv4 went off, rx-gro-hw came on".
std::string describe(const FeatureSettings& settings, std::string_view wrongly_off,
                     std::string_view wrongly_on) {
    const auto off = those(settings, true), on = those(settings, false);
    auto text = off.empty() ? std::string() : fmt::format("{} {}", text_of(off), wrongly_off);
    if (!off.empty() && !on.empty()) text += ", ";
    if (!on.empty()) text += fmt::format("{} {}", text_of(on), wrongly_on);
    return text;
}

} // namespace

Result<std::unique_ptr<Offloads>> Offloads::make(sd_event* loop, const Log& log, Ethtool& ethtool,
                                                 bool kernel_manages_ports, JournalKeeper& journal,
                                                 const OffloadTrial& trial,
                                                 std::function<void()> request_pass) {
    std::unique_ptr<Offloads> offloads(
        new Offloads(log, ethtool, kernel_manages_ports, journal, trial, std::move(request_pass)));
    auto events = EthtoolEvents::open();
    if (!events) {
        log(Level::warning, fmt::format("changes of offloads are not detected: {}", events.error().text));
        return offloads;
    }
    offloads->events_.emplace(std::move(*events));
    TEAMO_TRY(offloads->listen(loop));
    return offloads;
}

Result<> Offloads::listen(sd_event* loop) {
    auto io =
        Io::make(loop, events_->fd(), EPOLLIN, Priority::timer, [this](std::uint32_t) { take_events(); });
    if (!io) return tl::unexpected(io.error());
    io_.emplace(std::move(*io));
    return {};
}

void Offloads::take_events() {
    const auto seen = events_->take();
    const bool lost = !seen || seen->lost;
    if (lost) log_(Level::warning, "offload events were lost; reading all ports again", message_id::resync);
    bool ours = false;
    for (auto& device : devices_) {
        if (!lost && !seen->features.contains(device.index)) continue;
        device.stale = ours = true;
    }
    for (const auto& device : devices_)
        if (lost || seen->link_modes.contains(device.index)) {
            new_modes_.insert(device.index);
            ours = true;
        }
    if (ours) request_pass_();
}

Offloads::Device* Offloads::find(IfIndex index) {
    const auto found = std::ranges::find(devices_, index, &Device::index);
    return found == devices_.end() ? nullptr : &*found;
}

const Offloads::Device* Offloads::find(IfIndex index) const {
    const auto found = std::ranges::find(devices_, index, &Device::index);
    return found == devices_.end() ? nullptr : &*found;
}

/// The active features of the team's own device follow from its ports (drivers/net/team/team_core.c:
/// team_fix_features), so its wanted features are watched instead.
Features Offloads::as_seen(const Device& device, Features features) {
    if (device.is_team) features.active = features.wanted;
    return features;
}

/// One port's TSO is required of the others, so all plans are made together.
void Offloads::make_plans() {
    FeatureNames in_team;
    for (const auto& device : devices_)
        if (!device.is_team) in_team.merge(tso_of(device.contract, device.kept, device.features));
    for (auto& device : devices_) {
        device.plan = plan_offloads({.contract = &device.contract,
                                     .features = device.features,
                                     .kept = device.kept,
                                     .in_team = device.is_team ? FeatureNames{} : in_team,
                                     .forwards = !kernel_manages_ports_ && !device.is_team});
        if (device.is_team) {
            std::erase_if(device.plan.settings,
                          [](const auto& entry) { return !entry.second || entry.first == lro; });
            device.plan.required.clear();
        } else if (!kernel_manages_ports_) {
            device.plan.settings.merge(unwanted(device.features));
        }
    }
}

FeatureSettings Offloads::wrong(const Device& device) const {
    auto settings = missing(device.features, device.plan.settings);
    for (const auto* settled : {&device.refused, &device.conceded})
        for (const auto& [name, on] : *settled)
            if (const auto found = settings.find(name); found != settings.end() && found->second == on)
                settings.erase(found);
    return settings;
}

/// The previous values of the settings, as far as they must be restored later.
FeatureSettings Offloads::before(const Device& device, const FeatureSettings& settings) {
    FeatureSettings before;
    for (const auto& [name, on] : settings)
        if (find_offload(name) == nullptr || device.kept.contains(name) != on) before.emplace(name, !on);
    return before;
}

/// Writes the previous values of the settings into the journal.
Result<> Offloads::remember(const Device& port, const FeatureSettings& settings) {
    return journal_.remember_features(port.index, before(port, settings), port.kept);
}

Result<> Offloads::add(const Link& port, const OffloadContract& contract, const FeatureNames& kept) {
    Device device{.index = port.index, .name = port.name, .title = "port " + port.name, .contract = contract};
    auto features = ethtool_.read_features(port.index);
    if (!features) {
        log_(Level::warning, fmt::format("{}: {}", device.title, features.error().text));
        devices_.push_back(std::move(device));
        return {};
    }
    device.features = std::move(*features);
    device.kept = kept.empty() ? offloads_in(device.features.active) : kept;
    devices_.push_back(std::move(device));
    make_plans();
    auto& added = devices_.back();
    if (const auto settings = wrong(added); !settings.empty()) {
        if (auto remembered = remember(added, settings); !remembered) {
            devices_.pop_back();
            return remembered;
        }
        set(added, settings);
    }
    if (const auto lacks = lacking(added.plan, added.features);
        !lacks.empty() && contract.lacking == Lacking::refuse) {
        const int number = added.patience ? EAGAIN : EOPNOTSUPP; // the driver was only busy
        devices_.pop_back();
        make_plans();
        return fail(number, fmt::format(R"(lacks {}, and "lacking" is "refuse")", text_of(lacks)));
    }
    return {};
}

void Offloads::add_team(const Link& team, const OffloadContract& contract, const FeatureNames& kept) {
    Device device{.index = team.index,
                  .name = team.name,
                  .title = "device " + team.name,
                  .is_team = true,
                  .contract = contract};
    if (auto features = ethtool_.read_features(team.index))
        device.features = as_seen(device, std::move(*features));
    device.kept = kept.empty() ? offloads_in(device.features.active) : kept;
    devices_.push_back(std::move(device));
    make_plans();
}

void Offloads::remove(IfIndex device) {
    std::erase_if(devices_, [device](const Device& one) { return one.index == device; });
    make_plans();
}

void Offloads::change(IfIndex port, const OffloadContract& contract) {
    auto* device = find(port);
    if (device == nullptr || device->contract == contract) return;
    device->contract = contract;
    device->refused.clear();
    device->conceded.clear();
    device->repair = {};
    make_plans();
}

void Offloads::mark_stale(IfIndex device) {
    if (auto* found = find(device); found != nullptr) {
        found->stale = true;
        found->refused.clear(); // with a new link the driver may accept them
    }
}

void Offloads::reread(Device& device) {
    device.stale = false;
    auto features = ethtool_.read_features(device.index);
    if (!features) return; // the kernel reports a device that is gone
    *features = as_seen(device, std::move(*features));
    if (*features == device.features) return;
    FeatureNames changed;
    std::ranges::set_symmetric_difference(device.features.active, features->active,
                                          std::inserter(changed, changed.end()));
    device.drifted.merge(changed);
    device.features = std::move(*features);
    device.refused.clear();
    changed_ = plans_due_ = true;
}

bool Offloads::step(Time now) {
    for (auto& device : devices_)
        if (device.stale && !is_in_trial(device.index)) reread(device);
    if (std::exchange(plans_due_, false)) make_plans();
    for (auto& device : devices_)
        if (!is_in_trial(device.index)) reconcile(device, now);
    if (std::exchange(plans_due_, false)) make_plans();
    return std::exchange(changed_, false);
}

void Offloads::reconcile(Device& device, Time now) {
    reclaim_conceded(device, now);
    if (device.patience && !device.patience->is_over(now)) return;
    const auto settings = wrong(device);
    if (settings.empty()) {
        device.patience.reset();
        device.drifted.clear();
        device.left_message.clear();
        static_cast<void>(device.repair.step(false, now));
    } else if (!device.contract.repair) {
        device.patience.reset();
        log_given_up(device, settings);
    } else {
        repair(device, settings, now);
    }
    log_lacking(device);
}

void Offloads::repair(Device& device, const FeatureSettings& settings, Time now) {
    const auto earlier = device.repair;
    // With patience the driver was busy, and no program changed anything: try again.
    switch (device.patience ? Repair::Act::attempt : device.repair.step(true, now)) {
    case Repair::Act::nothing: return;
    case Repair::Act::give_up:
        log_(Level::warning,
             fmt::format("{}: {} by another program; giving up. Configure that program to leave it alone",
                         device.title,
                         describe(settings, "is repeatedly switched off", "is repeatedly switched on")),
             message_id::offload_given_up, {{"PORT", device.name}});
        device.conceded.insert(settings.begin(), settings.end());
        device.conceded_at = now;
        device.repair = {}; // for the other features
        return;
    case Repair::Act::attempt:
        if (!device.is_team && !remember(device, settings)) return await_passing(device.patience, true, now);
        if (set(device, settings)) {
            ++device.repaired;
            log_repaired(device, settings);
        } else {
            device.repair = earlier; // no conflict with another program
        }
        device.drifted.clear();
    }
}

/// Repairs conceded settings again once they have been right for Repair::peace.
void Offloads::reclaim_conceded(Device& device, Time now) {
    if (device.conceded.empty()) return;
    if (!missing(device.features, device.conceded).empty())
        device.conceded_at = now;
    else if (now - device.conceded_at >= Repair::peace)
        device.conceded.clear();
}

/// False: the driver changed nothing.
bool Offloads::set(Device& device, const FeatureSettings& settings) {
    auto after = ethtool_.set_features(device.index, settings);
    if (!after) {
        const bool passing = is_passing(after.error());
        if (after.error().number != ENODEV && !device.patience)
            log_(Level::warning,
                 fmt::format("{}: {}{}", device.title, after.error().text, passing ? "; trying again" : ""));
        if (passing)
            await_passing(device.patience, true, Repair::Time::clock::now());
        else
            device.refused = settings;
        return false;
    }
    device.patience.reset();
    device.features = as_seen(device, std::move(*after));
    changed_ = plans_due_ = true;
    device.refused = missing(device.features, settings);
    if (device.refused.empty())
        device.refused_message.clear();
    else
        device.refused_message(log_, Level::warning, device.title + ": ",
                               describe(device.refused, "stays off, its driver does not switch it on",
                                        "stays on, its driver does not switch it off"));
    return device.refused.size() < settings.size();
}

void Offloads::log_repaired(const Device& device, const FeatureSettings& settings) const {
    FeatureSettings drifted, requested;
    for (const auto& [name, on] : settings) {
        if (device.features.active.contains(name) != on) continue;
        (device.drifted.contains(name) ? drifted : requested).emplace(name, on);
    }
    if (!drifted.empty()) {
        const auto back = those(drifted, false).empty()  ? "switched on again"
                          : those(drifted, true).empty() ? "switched off again"
                                                         : "switched back";
        log_(Level::notice,
             fmt::format("{}: {}; {}", device.title, describe(drifted, "went off", "came on"), back),
             message_id::offload_repaired, {{"PORT", device.name}});
    }
    if (!requested.empty())
        log_(Level::info,
             fmt::format("{}: {}", device.title,
                         describe(requested, "switched on, as the team requires", "switched off")));
}

void Offloads::log_given_up(Device& device, const FeatureSettings& settings) const {
    device.left_message(log_, Level::warning, device.title + ": ",
                        describe(settings, "is off", "is on") + "; not changed, because \"repair\" is false",
                        message_id::offload_lacking, {{"PORT", device.name}});
}

void Offloads::log_lacking(Device& device) const {
    auto lacks = lacking(device.plan, device.features);
    // Not what is about to be repaired, or was logged by log_given_up().
    if (device.repair.deadline() || !device.left_message.text().empty() || lacks == device.logged_lacking)
        return;
    device.logged_lacking = std::move(lacks);
    if (device.logged_lacking.empty()) return;
    const auto consequence = device.contract.lacking == Lacking::accept
                                 ? "it is used anyway"
                                 : "it carries only while no other port can";
    log_(Level::warning,
         fmt::format("{}: lacks {}; {}", device.title, text_of(device.logged_lacking), consequence),
         message_id::offload_lacking, {{"PORT", device.name}});
}

std::optional<Offloads::Time> Offloads::deadline() const {
    std::optional<Time> first;
    for (const auto& device : devices_) {
        if (is_in_trial(device.index)) continue;
        const auto again = device.patience ? std::optional(device.patience->next()) : std::nullopt;
        for (const auto& here : {device.repair.deadline(), again})
            if (here && (!first || *here < *first)) first = here;
    }
    return first;
}

const Features& Offloads::features(IfIndex device) const {
    static const Features none;
    const auto* found = find(device);
    return found == nullptr ? none : found->features;
}

FeatureNames Offloads::kept(IfIndex device) const {
    const auto* found = find(device);
    return found == nullptr ? FeatureNames{} : found->kept;
}

bool Offloads::is_last(IfIndex port) const {
    const auto* device = find(port);
    return device != nullptr && device->contract.lacking != Lacking::accept &&
           !lacking(device->plan, device->features).empty();
}

DeviceOffloads Offloads::status(IfIndex index) const {
    const auto* device = find(index);
    if (device == nullptr) return {};
    return {.name = device->name,
            .active = offloads_in(device->features.active),
            .changeable = offloads_in(device->features.changeable),
            .shall_be_on = those(device->plan.settings, true),
            .shall_be_off = offloads_in(those(device->plan.settings, false)),
            .required = device->plan.required,
            .lacking = lacking(device->plan, device->features),
            .repaired = device->repaired,
            .gave_up = !device->conceded.empty(),
            .last = is_last(index),
            .gso_max = {}};
}

} // namespace teamo
