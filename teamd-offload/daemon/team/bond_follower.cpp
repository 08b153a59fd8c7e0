// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/bond_follower.h"

#include "kernel/netlink/bond_lacp.h"

#include <algorithm>
#include <thread>

namespace teamo {
namespace {

/// A stop tries that long to put back what was changed.
void insist(const auto& succeeds) {
    constexpr std::chrono::seconds patience{2};
    constexpr std::chrono::milliseconds pause{50};
    const auto until = Clock::now() + patience;
    while (!succeeds() && Clock::now() < until)
        std::this_thread::sleep_for(pause);
}

void set_hash(RunnerConfig& runner, HashFields fields) {
    if (auto* balance = std::get_if<LoadBalanceRunner>(&runner)) balance->tx_hash = fields;
    if (auto* lacp = std::get_if<LacpRunner>(&runner)) lacp->tx_hash = fields;
}

} // namespace

/// Nothing is to be done, or the device is gone.
bool BondFollower::is_idle() const {
    return !context_.datapath->is_bond() || ended_ || context_.team() == nullptr;
}

void BondFollower::begin() {
    if (is_idle()) return;
    steering_ = context_.datapath->is_guest() ? BondSteering(context_.journal.now().bond_policy)
                                              : BondSteering::of_ours();
    if (context_.datapath->is_guest()) set_runner(*context_.team());
}

/// Most settings cannot change while the bond is up.
void BondFollower::note_lacp() {
    const auto* wanted = std::get_if<LacpRunner>(&context_.config().runner);
    const auto has =
        is_idle() || wanted == nullptr ? fail(ENODATA, "") : read_bond_lacp(context_.device.team);
    if (!has || (has->active == wanted->active && has->fast_rate == wanted->fast_rate &&
                 has->actor.priority == std::max<std::uint16_t>(wanted->sys_prio, 1) &&
                 has->actor.address == wanted->system.value_or(context_.team()->address)))
        return;
    lacp_differs_(context_.log, Level::warning, "",
                  "the bond has other settings of LACP than the configuration, and cannot change them while "
                  "it is up; stop the team and start it again");
}

void BondFollower::set_runner(const Link& bond) {
    auto& runner = context_.configuration.team.runner;
    if (context_.is_by_source()) return; // in other modes than balance-xor it does nothing
    const bool is_backup = bond.bond_mode == bond_mode_active_backup,
               is_lacp = bond.bond_mode == bond_mode_lacp;
    if (is_backup == std::holds_alternative<ActiveBackupRunner>(runner) && is_lacp == context_.has_lacp())
        return;
    if (is_backup)
        runner = ActiveBackupRunner{};
    else if (is_lacp)
        runner = LacpRunner{.tx_balancer = TxBalancer{}};
    else
        runner = LoadBalanceRunner{.tx_balancer = TxBalancer{}};
}

Steering BondFollower::steering() const {
    if (ended_ || steering_.reason() != Unsteered::nothing) return Steering::off;
    return context_.is_activebackup() ? Steering::by_backup : Steering::by_hash;
}

BondSteering::View BondFollower::view(const Link& bond) const {
    auto view = view_of(context_.links(), bond);
    view.offloads_tls = std::ranges::any_of(ports_.all(), [this](const TeamPort& port) {
        return subsystems_.offloads->features(port.index).active.contains(std::string(device_tls));
    });
    view.by_source = context_.is_by_source();
    view.has_programs = context_.datapath->cannot_steer().empty();
    return view;
}

/// Whether active_slave may be written. Without programs it is all that helps.
bool BondFollower::may_choose() const {
    const auto reason = steering_.reason();
    return reason == Unsteered::nothing || reason == Unsteered::programs;
}

/// Once for each loss: what bonding or its owner chooses afterwards stays.
void BondFollower::take_over() {
    const auto& bond = *context_.team();
    if (context_.chooses_active()) return; // choose() does it
    const auto next = takeover(context_.links(), bond);
    const auto* lost = context_.link(bond.bond_active);
    const std::pair now(bond.bond_active, lost == nullptr ? 0 : lost->carrier_losses);
    if (!next || !may_choose() || taken_over_ == now) return active_patience_.reset();
    if (active_patience_ && !active_patience_->is_over(Clock::now())) return;
    // Before a new reading, which may know these devices no more.
    const auto done =
        fmt::format("active slave {}: {} has lost its link", context_.link(*next)->name, lost->name);
    const auto taken = set_active(*next);
    await_passing(active_patience_, !taken, Clock::now());
    if (!taken) return;
    taken_over_ = now;
    context_.log(Level::notice, done);
}

Result<> BondFollower::set_active(IfIndex slave) {
    auto done = make_active(slave);
    active_failure_(context_.log, Level::warning, "active_slave: ", done);
    return done;
}

Result<> BondFollower::make_active(IfIndex slave) {
    TEAMO_TRY(context_.control.set_bond_active(context_.device.team, slave));
    static_cast<void>(context_.observer->read_now(context_.device.team));
    return {};
}

/// While the former one has a link, a change that is not the runner's is one by hand, or by an option of the
/// bond, which its owner has set.
void BondFollower::follow_active() {
    const auto& bond = *context_.team();
    const auto* former = context_.link(active_);
    const bool kept_link = former != nullptr && former->has_link() && former->bond_uses_link &&
                           former->carrier_losses == active_losses_ && former->master == bond.index;
    const auto before = std::exchange(active_, bond.bond_active);
    if (const auto* now = context_.link(active_)) active_losses_ = now->carrier_losses;
    if (!context_.chooses_active() || active_ == before || active_ == chosen_) return;
    chosen_ = {}; // unless the runner follows, its choice is written once more
    if (before && active_ && kept_link) by_hand_ = active_;
}

/// Once for each choice. Bonding refuses a slave whose link it does not use.
void BondFollower::choose(std::optional<IfIndex> active) {
    // fail_over_mac and downdelay do not mind: the configuration wants it.
    const bool may =
        may_choose() || steering_.reason() == Unsteered::addresses || steering_.reason() == Unsteered::delay;
    const auto* slave = active ? context_.link(*active) : nullptr;
    if (!context_.chooses_active()) { // take_over() may have tried
        chosen_ = {};
        return;
    }
    if (!may || slave == nullptr || *active == context_.team()->bond_active) {
        chosen_ = slave != nullptr && *active == context_.team()->bond_active ? *active : IfIndex{};
        active_patience_.reset();
        return active_failure_.clear();
    }
    if (chosen_ == *active || !slave->bond_uses_link) return;
    if (active_patience_ && !active_patience_->is_over(Clock::now())) return;
    const auto name = slave->name; // set_active() reads events
    const auto done = set_active(*active);
    await_passing(active_patience_, !done, Clock::now());
    if (!done) return;
    context_.log(Level::notice, fmt::format("active slave {}", name));
    chosen_ = *active;
    if (context_.team() != nullptr) follow_active();
    context_.request_pass(); // the tables follow
}

void BondFollower::observe() {
    if (is_idle()) return;
    const bool is_guest = context_.datapath->is_guest();
    if (is_guest) set_runner(*context_.team());
    // An event from before our own change must not look like another program's.
    if (steering_.former() && context_.team()->bond_policy != steering_policy)
        if (!context_.observer->read_now(context_.device.team)) return;
    if (const auto other = context_.observer->policy_of_others(context_.device.team))
        steering_.note_overwritten(*other);
    steering_.step(view(*context_.team()), Clock::now());
    take_over();
    if (context_.team() == nullptr) return;
    follow_active();
    context_.journal.edit().bond_policy = steering_.former();
    if (const auto policy = steering_.own_policy(); policy && is_guest)
        set_hash(context_.configuration.team.runner, hash_fields_of(*policy));
    // The policy first: without the program bonding would use the packets' own hashes.
    if (steering() != Steering::by_hash) settle_policy();
    const auto steered = context_.datapath->steer(steering());
    steering_failure_(context_.log, Level::error, "cannot update the datapath: ", steered);
    await_passing(steering_patience_, !steered, Clock::now());
    const auto level = steering_.reason() == Unsteered::waits ? Level::notice : Level::warning;
    const bool is_fine = steering_.reason() == Unsteered::nothing;
    reason_(context_.log, level, "", is_fine ? std::string() : text_of(describe()));
}

void BondFollower::settle(std::optional<IfIndex> active) {
    if (is_idle()) return;
    choose(active);
    if (context_.team() != nullptr) settle_policy();
}

void BondFollower::settle_policy() {
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
    if (context_.datapath->is_guest()) context_.journal.edit().bond_policy = before;
    if (!context_.journal.keep() || !write(*policy)) return;
    context_.journal.edit().bond_policy = steering_.former();
    context_.log(Level::notice,
                 *policy == steering_policy
                     ? fmt::format("steers {} by its hash: xmit_hash_policy {} instead of {}",
                                   context_.name(), name_of(*policy), before ? name_of(*before) : "another")
                     : fmt::format("xmit_hash_policy is {} again", name_of(*policy)));
}

bool BondFollower::write(BondPolicy policy) {
    auto done = context_.control.set_bond_policy(context_.device.team, policy);
    if (!done) // it may be set, and the kernel could not answer
        if (const auto now = context_.observer->read_now(context_.device.team);
            now && now->bond_policy == policy)
            done = {};
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

void BondFollower::end() {
    if (!context_.datapath->is_guest() || context_.team() == nullptr) return;
    // What its owner has written meanwhile stays; while the bond is down that has no event.
    insist([&] { return context_.observer->read_now(context_.device.team).has_value(); });
    if (context_.team() == nullptr) return;
    observe();
    ended_ = true;
    if (const auto former = steering_.former()) {
        insist([&] { return context_.team() == nullptr || write(*former); });
        context_.journal.edit().bond_policy = steering_.former();
        if (!steering_.former())
            context_.log(Level::info, fmt::format("xmit_hash_policy is {} again", name_of(*former)));
    }
    Result<> done;
    insist([&] {
        done = context_.datapath->steer(Steering::off);
        return done.has_value();
    });
    if (!done) context_.log(Level::warning, fmt::format("{}: {}", context_.name(), done.error().text));
}

std::optional<Clock::time_point> BondFollower::deadline() const {
    auto first = steering_.deadline();
    for (const auto& patience : {patience_, active_patience_, steering_patience_})
        if (patience) first = earlier(first, patience->next());
    return first;
}

AttachedStatus BondFollower::describe() const {
    const auto* bond = context_.team();
    AttachedStatus status{.unsteered = steering_.reason()};
    if (bond != nullptr) {
        status.mode = bond_mode_name(bond->bond_mode.value_or(0));
        if (bond->bond_policy) status.policy = name_of(*bond->bond_policy);
    }
    if (const auto own = steering_.own_policy()) status.own_policy = name_of(*own);
    if (status.unsteered == Unsteered::programs) status.detail = context_.datapath->cannot_steer();
    if (status.unsteered == Unsteered::nothing && !failure_.text().empty()) {
        status.unsteered = Unsteered::refused;
        status.detail = failure_.text();
    }
    return status;
}

std::optional<AttachedStatus> BondFollower::status() const {
    if (!context_.datapath->is_guest()) return std::nullopt;
    auto status = describe();
    if (steering_.reason() == Unsteered::nothing && !context_.datapath->steers()) {
        status.unsteered = Unsteered::programs;
        status.detail = "no slave carries yet, or the program could not be attached";
    }
    return status;
}

std::string BondFollower::lack() const {
    if (!context_.datapath->is_bond() || context_.datapath->is_guest()) return {};
    auto lack = text_of(describe());
    return lack.empty() ? lacp_differs_.text() : lack;
}

} // namespace teamo
