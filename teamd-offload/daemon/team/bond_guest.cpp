// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/bond_guest.h"

#include <algorithm>
#include <thread>

namespace teamo {
namespace {

/// How long a stop tries to put the policy back.
constexpr std::chrono::seconds end_patience{2};
constexpr std::chrono::milliseconds end_pause{50};

} // namespace

void BondGuest::begin() { steering_ = BondSteering(context_.journal.now().bond_policy); }

BondSteering::View BondGuest::view(const Link& bond) const {
    auto view = view_of(context_.links(), bond);
    view.offloads_tls = std::ranges::any_of(ports_.all(), [this](const TeamPort& port) {
        return subsystems_.offloads->features(port.index).active.contains(std::string(device_tls));
    });
    view.has_programs = context_.datapath->cannot_steer().empty();
    return view;
}

/// Once for each loss: what bonding or its owner chooses afterwards stays.
void BondGuest::take_over() {
    const auto& bond = *context_.team();
    const auto next = takeover(context_.links(), bond);
    if (!next) return;
    const auto& lost = *context_.link(bond.bond_active);
    const std::pair now(lost.index, lost.carrier_losses);
    if (std::exchange(taken_over_, now) == now) return;
    const auto done = context_.control.set_bond_active(bond.index, *next);
    takeover_failure_(context_.log, Level::warning, "active_slave: ", done);
    if (done)
        context_.log(Level::notice, fmt::format("active slave {}: {} has lost its link",
                                                context_.link(*next)->name, lost.name));
    static_cast<void>(context_.observer->read_now(context_.device.team));
}

void BondGuest::observe() {
    if (!context_.datapath->is_guest() || ended_ || context_.team() == nullptr) return;
    take_over();
    if (context_.team() == nullptr) return;
    // An event from before our own change must not look like another program's.
    if (steering_.former() && context_.team()->bond_policy != steering_policy)
        if (!context_.observer->read_now(context_.device.team)) return;
    steering_.step(view(*context_.team()), Clock::now());
    context_.journal.edit().bond_policy = steering_.former();
    auto& runner = std::get<LoadBalanceRunner>(context_.configuration.team.runner);
    if (const auto policy = steering_.own_policy()) runner.tx_hash = hash_fields_of(*policy);
    const bool steers = steering_.reason() == Unsteered::nothing;
    // The policy first: without the program bonding would use the packets' own hashes.
    if (!steers) settle();
    if (auto done = context_.datapath->steer(steers); !done)
        context_.log(Level::error, fmt::format("cannot update the datapath: {}", done.error().text));
    const auto level = steering_.reason() == Unsteered::waits ? Level::notice : Level::warning;
    reason_(context_.log, level, "", steers ? std::string() : text_of(*status()));
}

void BondGuest::settle() {
    if (!context_.datapath->is_guest() || ended_ || context_.team() == nullptr) return;
    const auto policy = steering_.to_write(context_.datapath->steers());
    if (!policy) {
        patience_.reset();
        return failure_.clear();
    }
    if (patience_ && !patience_->is_over(Clock::now())) return;
    // What its owner has written a moment ago must not be overwritten unseen.
    const auto seen = context_.team()->bond_policy;
    const auto now = context_.observer->read_now(context_.device.team);
    if (!now || now->bond_policy != seen) return context_.request_pass();
    const auto before = steering_.own_policy();
    // The journal has what must come back before it is changed.
    context_.journal.edit().bond_policy = before;
    if (!context_.journal.keep() || !write(*policy)) return;
    context_.journal.edit().bond_policy = steering_.former();
    context_.log(Level::notice, *policy == steering_policy
                                    ? fmt::format("steers {} by its hash: xmit_hash_policy {} instead of {}",
                                                  context_.name(), name_of(*policy), name_of(*before))
                                    : fmt::format("xmit_hash_policy is {} again", name_of(*policy)));
}

bool BondGuest::write(BondPolicy policy) {
    const auto done = context_.control.set_bond_policy(context_.device.team, policy);
    failure_(context_.log, Level::warning, fmt::format("xmit_hash_policy {}: ", name_of(policy)), done);
    if (!done) {
        if (!patience_) patience_ = is_passing(done.error()) ? Patience() : Patience::lasting();
        patience_->refused(Clock::now());
        return false;
    }
    patience_.reset();
    steering_.note_written(policy);
    static_cast<void>(context_.observer->read_now(context_.device.team));
    return true;
}

void BondGuest::end() {
    if (!context_.datapath->is_guest() || context_.team() == nullptr) return;
    // What its owner has written meanwhile stays; while the bond is down that has no event.
    if (!context_.observer->read_now(context_.device.team)) return;
    observe();
    ended_ = true;
    if (const auto former = steering_.former()) {
        const auto until = Clock::now() + end_patience;
        while (!write(*former) && Clock::now() < until)
            std::this_thread::sleep_for(end_pause);
        context_.journal.edit().bond_policy = steering_.former();
        if (!steering_.former())
            context_.log(Level::info, fmt::format("xmit_hash_policy is {} again", name_of(*former)));
    }
    if (auto done = context_.datapath->steer(false); !done)
        context_.log(Level::warning, fmt::format("{}: {}", context_.name(), done.error().text));
}

std::optional<Clock::time_point> BondGuest::deadline() const {
    auto first = steering_.deadline();
    return patience_ ? earlier(first, patience_->next()) : first;
}

std::optional<AttachedStatus> BondGuest::status() const {
    if (!context_.datapath->is_guest()) return std::nullopt;
    const auto* bond = context_.team();
    AttachedStatus status{.unsteered = steering_.reason()};
    if (bond != nullptr) {
        status.mode = bond_mode_name(bond->bond_mode.value_or(0));
        if (bond->bond_policy) status.policy = name_of(*bond->bond_policy);
    }
    if (const auto own = steering_.own_policy()) status.own_policy = name_of(*own);
    if (status.unsteered == Unsteered::programs) status.detail = context_.datapath->cannot_steer();
    if (status.unsteered == Unsteered::nothing && !context_.datapath->steers()) {
        status.unsteered = Unsteered::programs;
        status.detail = "no slave carries yet, or the program could not be attached";
    }
    if (status.unsteered == Unsteered::nothing && !failure_.text().empty()) {
        status.unsteered = Unsteered::refused;
        status.detail = failure_.text();
    }
    return status;
}

} // namespace teamo
