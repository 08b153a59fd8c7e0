// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/offloads/offloads.h"

namespace teamo {
namespace {

/// A trial ends if its client sends no request for so long.
constexpr std::chrono::seconds longest_trial_silence{5};

/// What `ethtool -K DEVICE tso` switches (NETIF_F_ALL_TSO): IPv4, IPv6, and others that are on; their state.
FeatureSettings switched_by_trial(const Features& features) {
    FeatureSettings settings;
    for (const auto name : {tso, tso6, std::string_view("tx-tcp-ecn-segmentation"),
                            std::string_view("tx-tcp-mangleid-segmentation")}) {
        const bool on = features.active.contains(name);
        if (features.changeable.contains(name) && (on || name == tso || name == tso6))
            settings.emplace(name, on);
    }
    return settings;
}

} // namespace

void Offloads::end_silent_trial() {
    if (const auto* port = tried_ ? context_.journal.port(tried_) : nullptr)
        context_.log(Level::info, fmt::format("port {}: no request from doctor for {} s; TSO is restored",
                                              port->name, longest_trial_silence.count()));
    end_trial();
}

Result<> Offloads::begin_trial(IfIndex port, const std::string& name) {
    const auto before = switched_by_trial(TEAMO_TRY(context_.ethtool.read_features(port)));
    if (before.empty()) return fail(EOPNOTSUPP, name + " has no TSO that can be switched");
    auto* entry = context_.journal.port(port);
    if (entry == nullptr) return fail(ENODEV, name + " is no port of the team");
    const bool is_left = !entry->trial.empty(); // an earlier one could not be restored yet
    if (!is_left) entry->trial = before;
    if (auto kept = context_.journal.keep(); !kept) {
        if (!is_left) entry->trial.clear(); // nothing is tried
        return kept;
    }
    context_.log(Level::debug, fmt::format("port {}: TSO is measured", name));
    tried_ = port;
    return {};
}

Result<> Offloads::request_trial(IfIndex port, const std::string& name, TrialState state) {
    if (state == TrialState::end) {
        end_trial(port);
        return {};
    }
    forget_vanished_trial();
    if (tried_ && tried_ != port)
        return fail(EBUSY, context_.journal.port(tried_)->name + " is being measured");
    if (!tried_) TEAMO_TRY(begin_trial(port, name));
    trial_limit_->after(longest_trial_silence);
    auto wanted = context_.journal.port(port)->trial;
    for (auto& entry : wanted)
        entry.second = state == TrialState::on;
    const auto set = context_.ethtool.set_features(port, wanted);
    if (set && missing(set->now, wanted).empty()) return {};
    end_trial();
    if (!set) return tl::unexpected(set.error());
    if (set->refused.empty())
        return fail(EBUSY, fmt::format("another program switches TSO of {} meanwhile", name));
    return fail(EOPNOTSUPP, fmt::format("the driver of {} does not switch TSO {}", name, name_of(state)));
}

void Offloads::end_trial(IfIndex port) {
    if (!tried_ || (port && tried_ != port)) return;
    auto* entry = context_.journal.port(tried_);
    if (entry != nullptr) restore_tso(*entry);
    if (entry != nullptr && !entry->trial.empty())
        trial_limit_->after(longest_trial_silence); // the driver is busy: again then
    else
        tried_ = {};
    // If it fails, the end of the next pass tries again; to restore twice does no harm.
    static_cast<void>(context_.journal.keep());
}

void Offloads::forget_vanished_trial() {
    if (tried_ && context_.journal.port(tried_) == nullptr) tried_ = {};
}

void Offloads::end_leftover_trials(std::vector<PortBefore>& ports) {
    for (auto& port : ports) {
        if (port.trial.empty()) continue;
        context_.log(Level::notice,
                     fmt::format("port {}: an earlier daemon was killed while TSO was measured; restoring it",
                                 port.name));
        restore_tso(port);
        if (port.trial.empty()) continue;
        tried_ = port.index; // its driver is busy
        trial_limit_->after(longest_trial_silence);
    }
}

void Offloads::restore_tso(PortBefore& port) const {
    const auto before = port.trial;
    const auto set = context_.ethtool.set_features(port.index, before);
    if (set || !is_passing(set.error())) port.trial.clear();
    if (!set && set.error().number != ENODEV)
        context_.log(Level::warning, fmt::format("port {}: cannot restore TSO after its measurement: {}",
                                                 port.name, set.error().text));
    else if (set && !set->refused.empty())
        context_.log(
            Level::warning,
            fmt::format("port {}: its driver does not restore TSO; check with ethtool -k", port.name));
}

} // namespace teamo
