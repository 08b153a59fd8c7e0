// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/observer.h"

#include <fmt/ranges.h>

#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>

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

Result<std::unique_ptr<Observer>> Observer::make(const Log& log, std::function<void()> changed) {
    auto events = TEAMO_TRY(NetlinkSocket::listen(NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_IPV6_IFINFO}));
    auto control = TEAMO_TRY(LinkControl::open());
    std::unique_ptr<Observer> observer(
        new Observer(std::move(events), std::move(control), log, std::move(changed)));
    TEAMO_TRY(observer->refresh());
    return observer;
}

Result<> Observer::listen(sd_event* loop) {
    io_ = TEAMO_TRY(Io::make(loop, events_.fd(), EPOLLIN, Priority::link, [this](std::uint32_t) {
        catch_up();
        changed_();
    }));
    return {};
}

void Observer::catch_up() {
    const auto received = events_.receive([this](const nlmsghdr* message) { take(message); });
    if (!received || *received == NetlinkSocket::Received::lost) {
        log_(Level::warning, "link events were lost; reading all devices again", message_id::resync);
        stale_ = gap_ = true;
    }
    if (stale_)
        if (const auto read = refresh(); !read) log_(Level::error, read.error().text);
    for (const auto device : std::exchange(to_reread_, {}))
        if (auto link = control_.read(device))
            links_.insert_or_assign(device, std::move(*link));
        else if (link.error().number != ENODEV)
            stale_ = true; // read again within a second
}

void Observer::reread(const std::set<IfIndex>& devices) {
    to_reread_.insert(devices.begin(), devices.end());
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

void Observer::take(const nlmsghdr* message) {
    if (const auto ipv6 = parse_ipv6_event(message)) {
        ++events_taken_;
        auto* known = edit(ipv6->device);
        if (known == nullptr) return;
        known->ipv6 = ipv6->on;
        if (log_.traces())
            log_(Level::debug, fmt::format("event: {}: IPv6 {}", known->name, ipv6->on ? "on" : "off"));
        return;
    }
    auto link = parse_link(message);
    if (!link) return;
    ++events_taken_;
    const bool is_gone = message->nlmsg_type == RTM_DELLINK;
    if (log_.traces())
        log_(Level::debug, "event: " + (is_gone ? fmt::format("{} is gone", link->name) : describe(*link)));
    if (is_gone) {
        links_.erase(link->index);
        removed_.insert(link->index);
        return;
    }
    // The carrier changes without RTNL, under which events are made and sent: an event from before a loss can
    // be read after the loss is known, and one from during the loss after the carrier is back.
    const auto* known = find_link(links_, link->index);
    if (loss_is_pending(*link) || (known != nullptr && loss_is_pending(*known)))
        to_reread_.insert(link->index);
    links_.insert_or_assign(link->index, std::move(*link));
}

Result<Link> Observer::read_now(IfIndex device) {
    catch_up();
    auto link = control_.read(device);
    if (link)
        links_.insert_or_assign(device, *link);
    else if (link.error().number == ENODEV && links_.erase(device) > 0)
        removed_.insert(device);
    return link;
}

const Link* Observer::find_now(std::string_view name) {
    if (const auto* known = find_named(links_, name)) return known;
    const auto link = control_.read(name);
    if (!link || !read_now(link->index)) return nullptr;
    return find_named(links_, name);
}

Result<> Observer::refresh() {
    stale_ = true;
    // Events in the queue are older than this dump, and would overwrite it; but the dump does not show that a
    // device was removed if another one has its index.
    const auto received = TEAMO_TRY(events_.receive([this](const nlmsghdr* message) {
        const auto link = parse_link(message);
        if (link && message->nlmsg_type == RTM_DELLINK) removed_.insert(link->index);
    }));
    if (received == NetlinkSocket::Received::lost) gap_ = true;
    links_ = TEAMO_TRY(control_.read_all());
    ++events_taken_;
    stale_ = false;
    return {};
}

Link* Observer::edit(IfIndex index) {
    const auto found = links_.find(index);
    return found == links_.end() ? nullptr : &found->second;
}

} // namespace teamo
