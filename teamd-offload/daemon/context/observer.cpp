// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/observer.h"

#include "plan/team/bond_steering.h"

#include <fmt/ranges.h>

#include <linux/if.h>

#include <algorithm>

namespace teamo {
namespace {

/// What a pass may depend on, for the trace.
std::string describe(const Link& link) {
    return fmt::format("{} ({}): {}, {}, {} lost, address {}, MTU {}, master {}{}", link.name,
                       link.index.value, link.is_up() ? "up" : "down", link.has_link() ? "link" : "no link",
                       link.carrier_losses, text_of(link.address), link.mtu, link.master.value,
                       link.altnames.empty() ? "" : fmt::format(", also {}", fmt::join(link.altnames, " ")));
}

} // namespace

Result<std::unique_ptr<Observer>> Observer::make(DeviceTable& table, const Log& log,
                                                 std::function<void()> changed) {
    std::unique_ptr<Observer> observer(new Observer(table, log, std::move(changed)));
    table.catch_up();
    table.observers_.push_back(observer.get());
    table.interests_.add(observer.get(), observer->interest_);
    return observer;
}

Observer::~Observer() {
    table_.interests_.remove(this, interest_);
    std::erase(table_.observers_, this);
    std::erase(table_.waiting_, this);
}

void Observer::listen() {
    listens_ = true;
    if (told_ != events_taken_) wait();
}

bool Observer::follow(Interest interest) {
    if (interest_ == interest) return false;
    table_.interests_.remove(this, interest_);
    interest_ = std::move(interest);
    table_.interests_.add(this, interest_);
    return true;
}

void Observer::count() {
    ++events_taken_;
    wait();
}

void Observer::wait() {
    if (!std::exchange(waits_, true)) table_.tell_soon(*this);
}

void Observer::note(const Link& link) {
    if (log_.traces()) log_(Level::debug, "event: " + describe(link));
    if (link.bond_policy && *link.bond_policy != steering_policy)
        policies_of_others_[link.index] = *link.bond_policy;
    count();
}

std::optional<BondPolicy> Observer::policy_of_others(IfIndex bond) const {
    const auto found = policies_of_others_.find(bond);
    return found == policies_of_others_.end() ? std::nullopt : std::optional(found->second);
}

void Observer::note_ipv6(const Link& link) {
    if (log_.traces())
        log_(Level::debug, fmt::format("event: {}: IPv6 {}", link.name, link.ipv6 ? "on" : "off"));
    count();
}

void Observer::note_removed(const Link& link) {
    if (log_.traces()) log_(Level::debug, fmt::format("event: {} is gone", link.name));
    removed_.insert(link.index);
    policies_of_others_.erase(link.index);
    count();
}

void Observer::note_gap() {
    gap_ = true;
    count();
}

void Observer::tell() {
    waits_ = false;
    if (!listens_ || std::exchange(told_, events_taken_) == events_taken_) return;
    changed_();
}

void Observer::catch_up() {
    table_.catch_up();
    told_ = events_taken_;
}

Result<> Observer::refresh() {
    TEAMO_TRY(table_.refresh());
    told_ = ++events_taken_;
    return {};
}

Result<Link> Observer::read_now(IfIndex device) {
    table_.catch_up();
    // Of what is read by request nobody else has to tell it.
    told_ = events_taken_;
    auto link = table_.read(device);
    events_taken_ = told_;
    return link;
}

const Link* Observer::find(std::string_view name) const {
    const auto found = index().named(name);
    return found ? find_link(links(), *found) : nullptr;
}

const Link* Observer::find_now(std::string_view name) {
    if (const auto* known = find(name)) return known;
    const auto link = table_.control_.read(name);
    if (!link || !read_now(link->index)) return nullptr;
    return find(name);
}

void Observer::reread(const std::set<IfIndex>& devices) {
    table_.to_reread_.insert(devices.begin(), devices.end());
    catch_up();
    changed_();
}

void Observer::lost_carrier(const std::set<IfIndex>& devices) {
    // IFF_RUNNING stays, which marks an unreported loss: an older event in the queue does not undo it.
    for (const auto device : devices)
        edit(device, [](Link& link) { link.flags &= ~std::uint32_t{IFF_LOWER_UP}; });
    changed_();
    reread(devices);
}

} // namespace teamo
