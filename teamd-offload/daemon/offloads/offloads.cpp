// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/offloads/offloads.h"

#include "kernel/files/device_files.h"
#include "plan/team/make_plan.h"

#include <fmt/ranges.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace teamo {
namespace {

/// Until features are read again that could not be read.
constexpr std::chrono::seconds read_pause{1};

std::string text_of(const FeatureNames& names) { return fmt::format("{}", fmt::join(names, ", ")); }

FeatureNames those(const FeatureSettings& settings, bool on) {
    FeatureNames names;
    for (const auto& [name, state] : settings)
        if (state == on) names.insert(name);
    return names;
}

/// "tx-checksum-ipv4 is off, rx-gro-hw is on".
std::string describe(const FeatureSettings& settings, std::string_view wrongly_off,
                     std::string_view wrongly_on) {
    std::vector<std::string> parts;
    if (const auto off = those(settings, true); !off.empty())
        parts.push_back(text_of(off).append(" ").append(wrongly_off));
    if (const auto on = those(settings, false); !on.empty())
        parts.push_back(text_of(on).append(" ").append(wrongly_on));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// The active features of the team's own device follow from its ports (drivers/net/team/team_core.c:
/// team_fix_features), so its wanted features are watched instead.
Features as_seen(Features features, bool is_team) {
    if (is_team) features.active = features.wanted;
    return features;
}

} // namespace

Result<std::unique_ptr<Offloads>> Offloads::make(TeamContext& context) {
    std::unique_ptr<Offloads> offloads(new Offloads(context));
    offloads->trial_limit_ =
        TEAMO_TRY(Timer::make(context.loop, [self = offloads.get()] { self->end_silent_trial(); }));
    offloads->listener_ = context.shared.offloads.listen(
        [self = offloads.get()](const EthtoolEvents::Seen& seen) { self->note(seen); });
    return offloads;
}

void Offloads::note(const EthtoolEvents::Seen& seen) {
    if (seen.lost)
        context_.log(Level::warning, "offload events were lost; reading all ports again", message_id::resync);
    bool ours = false;
    for (auto& device : devices_) {
        if (seen.lost || seen.features.contains(device.index)) device.stale = ours = true;
        if (!seen.lost && !seen.link_modes.contains(device.index)) continue;
        new_modes_.insert(device.index);
        ours = true;
    }
    if (ours) context_.request_pass();
}

const Offloads::Device& Offloads::find(IfIndex index) const {
    static const Device none{};
    const auto found = std::ranges::find(devices_, index, &Device::index);
    return found == devices_.end() ? none : *found;
}

/// One port's TSO is required of the others, so all plans are made together.
void Offloads::make_plans() {
    const bool by_kernel = context_.datapath->kernel_manages_ports(); // the driver sets VLAN filters and LRO
    FeatureNames in_team;
    for (const auto& device : devices_)
        if (!device.is_team) in_team.add(tso_of(device.contract, device.kept, device.features));
    for (auto& device : devices_) {
        device.plan = plan_offloads({.contract = &device.contract,
                                     .features = device.features,
                                     .kept = device.kept,
                                     .in_team = device.is_team ? FeatureNames{} : in_team,
                                     .distrusts_tso = device.distrusts_tso,
                                     .forwards = !by_kernel && !device.is_team});
        if (device.is_team) {
            std::erase_if(device.plan.settings,
                          [](const auto& entry) { return !entry.second || entry.first == lro; });
            device.plan.required.clear();
        } else if (!by_kernel) {
            device.plan.settings.merge(unwanted(device.features));
        }
    }
}

FeatureSettings Offloads::wrong(const Device& device) const {
    auto settings = missing(device.features, device.plan.settings);
    // A bond of others stays as it is, and its slaves too unless the configuration names the offload.
    if (context_.datapath->is_guest())
        std::erase_if(settings, [&device](const auto& setting) {
            return device.is_team || !device.contract.wishes.contains(setting.first);
        });
    for (const auto* settled : {&device.refused, &device.conceded})
        for (const auto& [name, on] : *settled)
            if (const auto found = settings.find(name); found != settings.end() && found->second == on)
                settings.erase(found);
    return settings;
}

/// Writes the previous values of the settings into the journal, as far as they must be restored later.
Result<> Offloads::remember(const Device& port, const FeatureSettings& settings) {
    FeatureSettings before;
    for (const auto& [name, on] : settings)
        if (find_offload(name) == nullptr || port.kept.contains(name) != on) before.emplace(name, !on);
    return context_.journal.remember_features(port.index, before, port.kept);
}

/// The first features that are read of a port: those that the contract keeps, unless an earlier daemon knew
/// them.
void Offloads::begin_with(Device& port, Features features) {
    port.is_known = true;
    port.features = std::move(features);
    if (port.kept.empty()) port.kept = offloads_in(port.features.active);
}

Result<> Offloads::add(const Link& port, const OffloadContract& contract, const FeatureNames& kept) {
    devices_.push_back(
        {.index = port.index, .name = port.name, .title = "port " + port.name, .contract = contract});
    auto& added = devices_.back();
    added.kept = kept;
    added.distrusts_tso = distrusts_tso(read_driver(port));
    auto features = context_.ethtool.read_features(port.index);
    if (!features) {
        context_.log(Level::warning, fmt::format("{}: {}", added.title, features.error().text));
        added.stale = is_passing(features.error());
        added.read_again = Clock::now() + read_pause;
        return {};
    }
    begin_with(added, std::move(*features));
    make_plans();
    if (const auto settings = wrong(added); !settings.empty()) {
        if (auto remembered = remember(added, settings); !remembered) {
            devices_.pop_back();
            return remembered;
        }
        set(added, settings);
        FeatureNames on;
        for (const auto& [name, is_on] : settings)
            if (is_on && added.features.active.contains(name)) on.insert(name);
        if (!on.empty())
            context_.log(Level::notice,
                         fmt::format("{}: switched on {}, as the team needs it", added.title, text_of(on)));
    }
    if (const auto lacks = lacking(added.plan, added.features);
        !lacks.empty() && contract.lacking == Lacking::refuse) {
        const int number = added.patience ? EAGAIN : EOPNOTSUPP; // the driver was only busy
        devices_.pop_back();
        make_plans();
        return fail(number, refusal_without(lacks));
    }
    return {};
}

void Offloads::add_team(const Link& team, const OffloadContract& contract, const FeatureNames& kept) {
    auto features = as_seen(context_.ethtool.read_features(team.index).value_or(Features()), true);
    devices_.push_back({.index = team.index,
                        .name = team.name,
                        .title = "device " + team.name,
                        .is_team = true,
                        .is_known = true,
                        .contract = contract,
                        .features = features,
                        .kept = kept.empty() ? offloads_in(features.active) : kept});
    make_plans();
}

void Offloads::remove(IfIndex device) {
    std::erase_if(devices_, [device](const Device& one) { return one.index == device; });
    make_plans();
}

void Offloads::change(IfIndex port, const OffloadContract& contract) {
    for (auto& device : devices_) {
        if (device.index != port || device.contract == contract) continue;
        device.contract = contract;
        device.refused.clear();
        device.conceded.clear();
        device.repair = {};
        make_plans();
    }
}

void Offloads::mark_stale(IfIndex index) {
    for (auto& device : devices_) {
        if (device.index != index) continue;
        device.stale = true;
        device.refused.clear(); // with a new link the driver may accept them
    }
}

void Offloads::reread(Device& device) {
    const auto read = context_.ethtool.read_features(device.index);
    device.stale = !read && is_passing(read.error());
    if (device.stale) device.read_again = Clock::now() + read_pause;
    if (!read) return; // the kernel reports a device that is gone
    auto features = as_seen(*read, device.is_team);
    if (!device.is_known) {
        begin_with(device, std::move(features));
        changed_ = plans_due_ = true;
        static_cast<void>(
            context_.journal.remember_features(device.index, {}, device.kept)); // it logs a failure
        return;
    }
    if (features == device.features) return;
    device.drifted.add(features.active.without(device.features.active));
    device.drifted.add(device.features.active.without(features.active));
    device.features = std::move(features);
    device.refused.clear();
    changed_ = plans_due_ = true;
}

bool Offloads::is_left_alone(const Device& device) const {
    return device.index == tried_ || (!device.is_team && context_.is_replaced(device.index));
}

bool Offloads::step(Clock::time_point now) {
    for (auto& device : devices_)
        if (device.stale && !is_left_alone(device)) reread(device);
    if (std::exchange(plans_due_, false)) make_plans();
    for (auto& device : devices_)
        if (!is_left_alone(device)) reconcile(device, now);
    if (std::exchange(plans_due_, false)) make_plans();
    return std::exchange(changed_, false);
}

void Offloads::reconcile(Device& device, Clock::time_point now) {
    // Conceded settings are repaired again once they have been right for Repair::peace.
    if (!missing(device.features, device.conceded).empty())
        device.conceded_at = now;
    else if (now - device.conceded_at >= Repair::peace)
        device.conceded.clear();
    if (device.patience && !device.patience->is_over(now)) return;
    auto settings = wrong(device);
    // Without repair, what other programs changed is only logged; what the team newly requires is set.
    FeatureSettings left;
    if (!device.contract.repair)
        for (const auto& name : device.drifted)
            left.insert(settings.extract(std::string(name)));
    device.left_message(
        context_.log, Level::warning, device.title + ": ",
        left.empty() ? "" : describe(left, "is off", "is on") + "; not changed, because \"repair\" is false",
        message_id::offload_lacking, {{"PORT", device.name}});
    if (settings.empty()) {
        device.patience.reset();
        if (left.empty()) device.drifted.clear();
        static_cast<void>(device.repair.step(false, now));
    } else {
        repair(device, settings, now);
    }
    log_lacking(device);
}

void Offloads::repair(Device& device, const FeatureSettings& settings, Clock::time_point now) {
    const auto earlier = device.repair;
    // With patience the driver was busy, and no program changed anything: try again.
    switch (device.patience ? Repair::Act::attempt : device.repair.step(true, now)) {
    case Repair::Act::nothing: return;
    case Repair::Act::give_up:
        context_.log(
            Level::warning,
            fmt::format("{}: {} by another program; the daemon no longer repairs this. Configure that "
                        "program not to change it",
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
        for (const auto& entry : settings)
            device.drifted.erase(entry.first);
    }
}

/// False: the driver changed nothing.
bool Offloads::set(Device& device, const FeatureSettings& settings) {
    auto set = context_.ethtool.set_features(device.index, settings);
    if (!set) {
        const bool passing = is_passing(set.error());
        if (set.error().number != ENODEV && !device.patience)
            context_.log(Level::warning, fmt::format("{}: {}{}", device.title, set.error().text,
                                                     passing ? "; trying again" : ""));
        if (passing)
            await_passing(device.patience, true, Clock::now());
        else
            note_refused(device, settings, settings);
        return false;
    }
    device.patience.reset();
    device.features = as_seen(std::move(set->now), device.is_team);
    changed_ = plans_due_ = true;
    // As they were then: what another program has undone since then comes as an event.
    for (const auto& [name, on] : settings) {
        if (set->refused.contains(name)) continue;
        if (on)
            device.features.active.insert(name);
        else
            device.features.active.erase(name);
    }
    const auto refused = missing(device.features, settings);
    note_refused(device, settings, refused);
    device.refused_message(context_.log, Level::warning, device.title + ": ",
                           describe(device.refused, "stays off, its driver does not switch it on",
                                    "stays on, its driver does not switch it off"));
    return refused.size() < settings.size();
}

/// Keeps what it refused before: else two requests that it refuses would take turns for ever.
void Offloads::note_refused(Device& device, const FeatureSettings& tried, const FeatureSettings& refused) {
    for (const auto& [name, on] : tried)
        device.refused.erase(name);
    device.refused.insert(refused.begin(), refused.end());
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
        context_.log(Level::notice,
                     fmt::format("{}: {}; {}", device.title,
                                 describe(drifted, "was switched off by another program or the driver",
                                          "was switched on by another program or the driver"),
                                 back),
                     message_id::offload_repaired, {{"PORT", device.name}});
    }
    if (!requested.empty())
        context_.log(Level::info,
                     fmt::format("{}: {}", device.title,
                                 describe(requested, "switched on, as the team requires", "switched off")));
}

void Offloads::log_lacking(Device& device) const {
    auto lacks = lacking(device.plan, device.features);
    // Not what is about to be repaired, or was logged as left to another program.
    if (device.repair.deadline() || !device.left_message.text().empty() || lacks == device.logged_lacking)
        return;
    device.logged_lacking = std::move(lacks);
    if (device.logged_lacking.empty()) return;
    const auto consequence = device.contract.lacking == Lacking::accept
                                 ? "it is used anyway"
                                 : "it carries only while no other port can";
    context_.log(Level::warning,
                 fmt::format("{}: lacks {}; {}", device.title, text_of(device.logged_lacking), consequence),
                 message_id::offload_lacking, {{"PORT", device.name}});
}

std::optional<Clock::time_point> Offloads::deadline() const {
    std::optional<Clock::time_point> first;
    for (const auto& device : devices_) {
        if (is_left_alone(device)) continue;
        // With patience it decides alone when to try again; the time of `repair` may be over.
        first = earlier(first, device.patience ? device.patience->next() : device.repair.deadline());
        if (device.stale) first = earlier(first, device.read_again);
        // See reconcile(): what is wrong then must not be what begins the time anew.
        if (!device.conceded.empty() && missing(device.features, device.conceded).empty())
            first = earlier(first, device.conceded_at + Repair::peace);
    }
    return first;
}

DeviceOffloads Offloads::status(IfIndex index) const {
    const auto& device = find(index);
    return {.name = device.name,
            .active = offloads_in(device.features.active),
            .changeable = offloads_in(device.features.changeable),
            .planned_on = those(device.plan.settings, true),
            .planned_off = offloads_in(those(device.plan.settings, false)),
            .required = device.plan.required,
            .lacking = lacking(device.plan, device.features),
            .repaired = device.repaired,
            .gave_up = !device.conceded.empty(),
            .last = device.is_last()};
}

} // namespace teamo
