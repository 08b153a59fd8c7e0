// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/observer.h"

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
    return observer;
}

Observer::~Observer() { std::erase(table_.observers_, this); }

bool Observer::concerns(const Link& link) const {
    if (interest_.all) return true;
    const auto has = [this](IfIndex index) { return index && interest_.devices.contains(index); };
    if (has(link.index) || has(link.master) || (has(link.lower) && !link.lower_elsewhere)) return true;
    if (!interest_.address.is_zero() && link.address == interest_.address) return true;
    const auto named = [this](const std::string& name) { return interest_.names.contains(name); };
    if (named(link.name) || std::ranges::any_of(link.altnames, named)) return true;
    const auto mark = link.altnames.empty() ? std::nullopt : port_mark_of(link);
    return mark && mark->team == interest_.team;
}

void Observer::count() {
    ++events_taken_;
    table_.tell_soon_->soon();
}

void Observer::note(const Link* before, const Link& now) {
    if (!concerns(now) && (before == nullptr || !concerns(*before))) return;
    if (log_.traces()) log_(Level::debug, "event: " + describe(now));
    count();
}

void Observer::note_ipv6(const Link& link) {
    if (!concerns(link)) return;
    if (log_.traces())
        log_(Level::debug, fmt::format("event: {}: IPv6 {}", link.name, link.ipv6 ? "on" : "off"));
    count();
}

void Observer::note_removed(const Link& link) {
    if (!concerns(link)) return;
    if (log_.traces()) log_(Level::debug, fmt::format("event: {} is gone", link.name));
    removed_.insert(link.index);
    count();
}

void Observer::note_missing(const Link& link) {
    if (concerns(link)) count();
}

void Observer::note_gap() {
    gap_ = true;
    count();
}

void Observer::tell() {
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

const Link* Observer::find_now(std::string_view name) {
    if (const auto* known = find_named(links(), name)) return known;
    const auto link = table_.control_.read(name);
    if (!link || !read_now(link->index)) return nullptr;
    return find_named(links(), name);
}

void Observer::reread(const std::set<IfIndex>& devices) {
    table_.to_reread_.insert(devices.begin(), devices.end());
    catch_up();
    changed_();
}

void Observer::lost_carrier(const std::set<IfIndex>& devices) {
    // IFF_RUNNING stays, which marks an unreported loss: an older event in the queue does not undo it.
    for (const auto device : devices)
        if (auto* link = edit(device); link != nullptr) link->flags &= ~std::uint32_t{IFF_LOWER_UP};
    changed_();
    reread(devices);
}

} // namespace teamo
