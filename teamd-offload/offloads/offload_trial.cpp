// SPDX-License-Identifier: LGPL-2.1-or-later
#include "offloads/offload_trial.h"

#include <array>

namespace teamo {
namespace {

/// A trial ends if its client sends no request for so long.
constexpr std::chrono::seconds longest_trial_silence{5};

/// What `ethtool -K DEVICE tso` switches (NETIF_F_ALL_TSO).
constexpr std::array<std::string_view, 4> tso_features{
    "tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation"};

/// The features that a trial switches, with their state: TSO for IPv4 and IPv6, and the others that are on.
FeatureSettings switched_by_trial(const Features& features) {
    FeatureSettings settings;
    for (const auto name : tso_features) {
        const bool on = features.active.contains(name);
        const bool plain = name == tso_features[0] || name == tso_features[1];
        if (features.changeable.contains(name) && (on || plain)) settings.emplace(name, on);
    }
    return settings;
}

FeatureSettings all(const FeatureSettings& names, bool on) {
    auto settings = names;
    for (auto& entry : settings)
        entry.second = on;
    return settings;
}

} // namespace

Result<std::unique_ptr<OffloadTrial>> OffloadTrial::make(sd_event* loop, const Log& log, Ethtool& ethtool,
                                                         JournalKeeper& journal) {
    std::unique_ptr<OffloadTrial> trial(new OffloadTrial(log, ethtool, journal));
    auto limit = Timer::make(loop, [self = trial.get()] {
        if (const auto* port = self->tried_ ? self->journal_.port(*self->tried_) : nullptr)
            self->log_(Level::info,
                       fmt::format("port {}: no request from the benchmark for {} s; TSO is restored",
                                   port->name, longest_trial_silence.count()));
        self->end();
    });
    if (!limit) return tl::unexpected(limit.error());
    trial->limit_.emplace(std::move(*limit));
    return trial;
}

Result<> OffloadTrial::begin(IfIndex port, const std::string& name) {
    const auto features = TEAMO_TRY(ethtool_.read_features(port));
    const auto before = switched_by_trial(features);
    if (before.empty()) return fail(EOPNOTSUPP, name + " has no TSO that can be switched");
    auto* entry = journal_.port(port);
    if (entry == nullptr) return fail(ENODEV, name + " is no port of the team");
    entry->trial = before;
    TEAMO_TRY(journal_.keep());
    log_(Level::debug, fmt::format("port {}: TSO is measured", name));
    tried_ = port;
    return {};
}

Result<> OffloadTrial::request(IfIndex port, const std::string& name, TrialState state) {
    if (state == TrialState::end) {
        end(port);
        return {};
    }
    forget_vanished();
    if (tried_ && *tried_ != port) return fail(EBUSY, journal_.port(*tried_)->name + " is being measured");
    if (!tried_) TEAMO_TRY(begin(port, name));
    limit_->after(longest_trial_silence);
    const auto wanted = all(journal_.port(port)->trial, state == TrialState::on);
    const auto now = ethtool_.set_features(port, wanted);
    if (now && missing(*now, wanted).empty()) return {};
    const auto refused =
        now ? Error{EOPNOTSUPP, fmt::format("the driver of {} does not switch TSO {}", name, name_of(state))}
            : now.error();
    end();
    return tl::unexpected(refused);
}

void OffloadTrial::end(IfIndex port) {
    if (!tried_ || (port && *tried_ != port)) return;
    limit_->stop();
    if (auto* entry = journal_.port(*tried_)) restore(*entry);
    tried_.reset();
    static_cast<void>(journal_.keep()); // the end of the next pass tries again; to restore twice does no harm
}

void OffloadTrial::forget_vanished() {
    if (!tried_ || journal_.port(*tried_) != nullptr) return;
    limit_->stop();
    tried_.reset();
}

void OffloadTrial::end_leftovers(std::vector<PortBefore>& ports) const {
    for (auto& port : ports) {
        if (port.trial.empty()) continue;
        log_(Level::notice,
             fmt::format("port {}: an earlier daemon was killed while TSO was measured; restoring it",
                         port.name));
        restore(port);
    }
}

void OffloadTrial::restore(PortBefore& port) const {
    const auto before = std::exchange(port.trial, {});
    const auto now = ethtool_.set_features(port.index, before);
    if (!now && now.error().number != ENODEV)
        log_(Level::warning, fmt::format("port {}: cannot restore TSO after its measurement: {}", port.name,
                                         now.error().text));
    else if (now && !missing(*now, before).empty())
        log_(Level::warning,
             fmt::format("port {}: its driver does not restore TSO; check with ethtool -k", port.name));
}

} // namespace teamo
