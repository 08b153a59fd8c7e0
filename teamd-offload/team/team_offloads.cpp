// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the offload contract needs to know of a team, and what is told of it.
#include "team/team.h"

#include <algorithm>

namespace teamo {

Result<> Team::start_offloads(sd_event* loop) {
    const auto new_modes = [this](IfIndex index) {
        const auto port = std::ranges::find(ports_, index, &Port::index);
        if (port != ports_.end()) read_modes(*port);
    };
    auto offloads = Offloads::make(
        loop, log_, ethtool_, datapath_->kernel_manages_ports(),
        {.remember = [this](IfIndex port,
                            const FeatureSettings& before) { return remember_features(port, before); },
         .is_held = [this](IfIndex port) { return trial_->held(port) != nullptr; },
         .changed = [this] { pass(); },
         .new_modes = new_modes});
    if (!offloads) return tl::unexpected(offloads.error());
    offloads_ = std::move(*offloads);
    return {};
}

Result<> Team::remember_features(IfIndex port, const FeatureSettings& settings) {
    auto* was = before(port);
    if (was == nullptr) return fail(ENODEV, "is no port of the team");
    was->features.insert(settings.begin(), settings.end());
    if (was->offloads.empty()) was->offloads = offloads_->kept(port); // before anything is switched
    auto kept = keep_journal();
    if (!kept) log_(Level::warning, kept.error().text);
    return kept;
}

/// Speed and duplex are those of a link, or somebody set them.
void Team::read_modes(Port& port) {
    const auto modes = ethtool_.read_link_modes(port.index);
    const auto speed = [](const LinkStatus& one) { return one.speed.value_or(0); };
    if (speed(port.modes) != 0 && speed(modes) != 0 && speed(port.modes) != speed(modes))
        log_(Level::notice,
             fmt::format("port {}: speed {} Mbit/s, it was {}", port.name, speed(modes), speed(port.modes)),
             message_id::none, {{"PORT", port.name}});
    port.modes = modes;
}

OffloadStatus Team::offload_status() const {
    const auto status_of = [this](IfIndex device) {
        auto status = offloads_->status(device);
        if (const auto* link = find_link(observer_->links(), device); link != nullptr) {
            status.name = link->name;
            status.gso_max = link->gso_max;
        }
        return status;
    };
    OffloadStatus status{.lacking = configuration_.team.offload.lacking,
                         .repair = configuration_.team.offload.repair,
                         .team = status_of(device_.team),
                         .ports = {}};
    for (const auto& port : ports_)
        status.ports.push_back(status_of(port.index));
    return status;
}

} // namespace teamo
