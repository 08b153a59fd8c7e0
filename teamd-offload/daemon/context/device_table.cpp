// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/device_table.h"

#include "daemon/context/observer.h"

#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>

#include <algorithm>

namespace teamo {
namespace {

/// Until all devices are read again that came or went while they were read.
constexpr std::chrono::milliseconds first_pause{100}, longest_pause{10'000};

} // namespace

Result<std::unique_ptr<DeviceTable>> DeviceTable::make(const Log& log, sd_event* loop) {
    auto events = TEAMO_TRY(NetlinkSocket::listen(NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_IPV6_IFINFO}));
    auto control = TEAMO_TRY(LinkControl::open());
    std::unique_ptr<DeviceTable> table(new DeviceTable(std::move(events), std::move(control), log));
    auto* self = table.get();
    table->tell_soon_ = TEAMO_TRY(Deferred::make(loop, Priority::link, [self] { self->tell(); }));
    const auto follow = [self] {
        self->catch_up();
        self->tell();
    };
    table->io_ = TEAMO_TRY(
        Io::make(loop, table->events_.fd(), EPOLLIN, Priority::link, [follow](std::uint32_t) { follow(); }));
    table->read_again_ = TEAMO_TRY(Timer::make(loop, follow));
    TEAMO_TRY(table->refresh());
    return table;
}

DeviceTable::~DeviceTable() = default;

void DeviceTable::note(void (Observer::*note)(const Link&), const Link& link, const Link* before) {
    auto concerned = interests_.concerned(link);
    if (before != nullptr) concerned.merge(interests_.concerned(*before));
    for (auto* observer : concerned)
        (observer->*note)(link);
}

void DeviceTable::note_gap() {
    for (auto* observer : observers_)
        observer->note_gap();
}

void DeviceTable::tell_soon(Observer& observer) {
    waiting_.push_back(&observer);
    tell_soon_->soon();
}

void DeviceTable::catch_up() {
    const auto received = events_.receive([this](const nlmsghdr* message) { take(message); });
    if (!received || *received == NetlinkSocket::Received::lost) {
        log_(Level::warning, "link events were lost; reading all devices again", message_id::resync);
        stale_ = true;
        next_read_ = {};
        note_gap();
    }
    if (stale_ && next_read_ <= Clock::now())
        if (const auto read = refresh(); !read) log_(Level::error, read.error().text);
    for (const auto device : std::exchange(to_reread_, {}))
        if (auto link = control_.read(device))
            put(std::move(*link));
        else if (link.error().number != ENODEV)
            stale_ = true; // read again within a second
}

void DeviceTable::take(const nlmsghdr* message) {
    if (const auto ipv6 = parse_ipv6_event(message)) {
        if (edit(ipv6->device, [&ipv6](Link& link) { link.ipv6 = ipv6->on; }))
            note(&Observer::note_ipv6, links_.at(ipv6->device));
        return;
    }
    auto link = parse_link(message);
    if (!link) return;
    if (message->nlmsg_type == RTM_DELLINK) {
        // What was not known is told too: the index may be that of a port.
        note(&Observer::note_removed, *link);
        forget(link->index);
        return;
    }
    // The carrier changes without RTNL, under which events are made and sent: an event from before a loss can
    // be read after the loss is known, and one from during the loss after the carrier is back.
    const auto* known = find_link(links_, link->index);
    if (loss_is_pending(*link) || (known != nullptr && loss_is_pending(*known)))
        to_reread_.insert(link->index);
    put(std::move(*link));
}

void DeviceTable::put(Link link) {
    const auto known = links_.find(link.index);
    const auto* before = known == links_.end() ? nullptr : &known->second;
    note(&Observer::note, link, before);
    if (before != nullptr) index_.remove(*before);
    index_.add(link);
    links_.insert_or_assign(link.index, std::move(link));
}

void DeviceTable::erase(IfIndex index) {
    const auto known = links_.find(index);
    if (known == links_.end()) return;
    note(&Observer::note_removed, known->second);
    forget(index);
}

void DeviceTable::forget(IfIndex index) {
    const auto known = links_.find(index);
    if (known == links_.end()) return;
    index_.remove(known->second);
    links_.erase(known);
}

Result<Link> DeviceTable::read(IfIndex device) {
    auto link = control_.read(device);
    if (link) {
        const auto* known = find_link(links_, device);
        if (known == nullptr || *known != *link) put(*link);
    } else if (link.error().number == ENODEV) {
        erase(device);
    }
    return link;
}

Result<> DeviceTable::refresh() {
    stale_ = true;
    // Events in the queue are older than this dump, and would overwrite it; but the dump does not show that a
    // device was removed if another one has its index.
    const auto received = TEAMO_TRY(events_.receive([this](const nlmsghdr* message) {
        const auto link = parse_link(message);
        if (!link || message->nlmsg_type != RTM_DELLINK) return;
        note(&Observer::note_removed, *link);
    }));
    if (received == NetlinkSocket::Received::lost) note_gap();
    auto list = TEAMO_TRY(control_.list(links_));
    const auto before = std::exchange(links_, std::move(list.links));
    for (const auto& [index, link] : links_) {
        const auto known = before.find(index);
        const auto* was = known == before.end() ? nullptr : &known->second;
        if (was != nullptr && *was == link) continue;
        if (was != nullptr) index_.remove(*was);
        index_.add(link);
        note(&Observer::note, link, was);
    }
    for (const auto& [index, link] : before) {
        if (links_.contains(index)) continue;
        index_.remove(link);
        for (auto* observer : interests_.concerned(link))
            observer->count();
    }
    stale_ = !list.is_whole;
    if (stale_)
        note_interrupted();
    else
        interrupted_ = 0;
    return {};
}

void DeviceTable::note_interrupted() {
    if (interrupted_ == 0)
        log_(Level::info, "devices came and went while they were read; they will be read again");
    const auto pause = growing_pause(first_pause, interrupted_++, longest_pause);
    next_read_ = Clock::now() + pause;
    read_again_->at(next_read_);
}

bool DeviceTable::edit(IfIndex index, const std::function<void(Link&)>& change) {
    const auto found = links_.find(index);
    if (found == links_.end()) return false;
    index_.remove(found->second);
    change(found->second);
    index_.add(found->second);
    return true;
}

/// One that is told may end, which takes it out of the list, and another begin.
void DeviceTable::tell() {
    for (auto waiting = waiting_.size(); waiting > 0 && !waiting_.empty(); --waiting) {
        auto* observer = waiting_.front();
        waiting_.erase(waiting_.begin());
        observer->tell();
    }
}

} // namespace teamo
