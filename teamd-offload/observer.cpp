// SPDX-License-Identifier: LGPL-2.1-or-later
#include "observer.h"

#include <linux/rtnetlink.h>
#include <sys/epoll.h>

namespace teamo {

Result<std::unique_ptr<Observer>> Observer::make(const Log& log, std::function<void()> changed) {
    auto events = NetlinkSocket::listen(NETLINK_ROUTE, {RTNLGRP_LINK});
    if (!events) return tl::unexpected(events.error());
    auto control = LinkControl::open();
    if (!control) return tl::unexpected(control.error());
    std::unique_ptr<Observer> observer(
        new Observer(std::move(*events), std::move(*control), log, std::move(changed)));
    if (auto read = observer->refresh(); !read) return tl::unexpected(read.error());
    return observer;
}

Result<> Observer::listen(sd_event* loop) {
    auto io = Io::make(loop, events_.fd(), EPOLLIN, Priority::link, [this](std::uint32_t) {
        catch_up();
        changed_();
    });
    if (!io) return tl::unexpected(io.error());
    io_.emplace(std::move(*io));
    return {};
}

void Observer::catch_up() {
    const auto received = events_.receive([this](const nlmsghdr* message) { take(message); });
    if (received && *received == NetlinkSocket::Received::all) return;
    log_(Level::warning, "link events were lost, reading every device anew", message_id::resync);
    if (const auto read = refresh(); !read) log_(Level::error, read.error().text);
}

void Observer::take(const nlmsghdr* message) {
    auto link = parse_link(message);
    if (!link) return;
    if (message->nlmsg_type == RTM_DELLINK)
        links_.erase(link->index);
    else
        links_.insert_or_assign(link->index, std::move(*link));
}

Result<> Observer::refresh() {
    // What waits is older than what is read now, and would overwrite it.
    if (auto drained = events_.receive({}); !drained) return tl::unexpected(drained.error());
    auto all = control_.read_all();
    if (!all) return tl::unexpected(all.error());
    links_ = std::move(*all);
    return {};
}

Link* Observer::edit(IfIndex index) {
    const auto found = links_.find(index);
    return found == links_.end() ? nullptr : &found->second;
}

} // namespace teamo
