// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/process_parts.h"

#include "announce/announcement_frames.h"
#include "kernel/files/files.h"
#include "kernel/netlink/addresses.h"
#include "kernel/netlink/traffic_control.h"

#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>

#include <algorithm>

namespace teamo {

Result<std::unique_ptr<ProcessParts>> ProcessParts::make(const Log& log, sd_event* loop) {
    auto devices = TEAMO_TRY(DeviceTable::make(log, loop));
    auto control = TEAMO_TRY(LinkControl::open());
    auto ethtool = TEAMO_TRY(Ethtool::open());
    auto requests = TEAMO_TRY(NetlinkSocket::open_strict(NETLINK_ROUTE));
    auto frames = TEAMO_TRY(PacketSocket::open());
    auto hook_events = TEAMO_TRY(NetlinkSocket::listen(NETLINK_ROUTE, {RTNLGRP_TC}));
    std::unique_ptr<ProcessParts> parts(new ProcessParts(std::move(devices), std::move(control),
                                                         std::move(ethtool), std::move(requests),
                                                         std::move(frames), std::move(hook_events)));
    auto* self = parts.get();
    parts->hook_io_ = TEAMO_TRY(Io::make(loop, self->hook_events_.fd(), EPOLLIN, Priority::link,
                                         [self](std::uint32_t) { self->take_hooks(); }));
    auto offload_events = EthtoolEvents::open();
    if (!offload_events) {
        log(Level::warning,
            fmt::format("changes of offloads are not detected: {}", offload_events.error().text));
        return parts;
    }
    parts->offload_events_ = std::move(*offload_events);
    parts->offload_io_ = TEAMO_TRY(Io::make(loop, self->offload_events_->fd(), EPOLLIN, Priority::timer,
                                            [self](std::uint32_t) { self->take_offloads(); }));
    return parts;
}

std::chrono::microseconds ProcessParts::pause(std::chrono::microseconds alone) const {
    constexpr std::size_t teams_at_full_pace = 100, slowest = 5;
    const auto hundreds = (devices->observers() + teams_at_full_pace - 1) / teams_at_full_pace;
    return alone * std::clamp<std::size_t>(hundreds, 1, slowest);
}

const announce::Ipv4Groups* ProcessParts::ipv4_groups(IfIndex device) {
    const auto groups = read_ipv4_groups(requests, device);
    if (groups && std::ranges::none_of(*groups, announce::is_reported)) return nullptr;
    constexpr std::chrono::milliseconds moment{100};
    if (Clock::now() - ipv4_groups_read_ >= moment) {
        ipv4_groups_.clear(); // those that cannot be read are not announced
        if (const auto text = read_file("/proc/thread-self/net/igmp", announce::longest_group_list))
            if (auto parsed = announce::parse_proc_igmp(*text)) ipv4_groups_ = std::move(*parsed);
        ipv4_groups_read_ = Clock::now();
    }
    const auto found = ipv4_groups_.find(device);
    return found == ipv4_groups_.end() ? nullptr : &found->second;
}

const QueueCounters& ProcessParts::Queues::of(IfIndex device) const {
    static constexpr QueueCounters none; // noqueue
    const auto found = all.counters.find(device);
    return found == all.counters.end() ? none : found->second;
}

/// Another device may have the index by now.
bool ProcessParts::has_no_queue(IfIndex device) const {
    const auto known = without_queue_.find(device);
    const auto* link = find_link(devices->links(), device);
    return known != without_queue_.end() && link != nullptr && link->name == known->second;
}

const ProcessParts::Queues* ProcessParts::no_queues() {
    no_queues_.read = Clock::now();
    return &no_queues_;
}

Result<> ProcessParts::read_queues(std::chrono::milliseconds age) {
    if (queues_ && Clock::now() - queues_->read <= age) return {};
    queues_.reset();
    auto read = TEAMO_TRY(teamo::read_queues(requests));
    queues_ = Queues{.all = std::move(read), .read = Clock::now()};
    return {};
}

void ProcessParts::note_queue(IfIndex device) {
    const auto* link = find_link(devices->links(), device);
    if (link != nullptr && queues_->all.without.contains(device))
        without_queue_.insert_or_assign(device, link->name);
    if (without_queue_.size() > devices->links().size()) // some are gone
        std::erase_if(without_queue_, [this](const auto& entry) {
            return find_link(devices->links(), entry.first) == nullptr;
        });
}

void ProcessParts::take_hooks() {
    SeenHooks seen;
    const auto received = hook_events_.receive([&seen](const nlmsghdr* message) {
        if (const auto device = device_of_tc_event(message)) seen.devices.insert(*device);
    });
    seen.lost = !received || *received == NetlinkSocket::Received::lost;
    // What was read may be older than the event.
    if (seen.lost) queues_.reset();
    if (seen.lost) without_queue_.clear();
    for (const auto device : seen.devices) {
        if (queues_) queues_->all.without.erase(device);
        without_queue_.erase(device);
    }
    hooks.tell(seen);
}

void ProcessParts::take_offloads() {
    auto seen = offload_events_->take();
    if (!seen) {
        seen.emplace();
        seen->lost = true;
    }
    offloads.tell(*seen);
}

} // namespace teamo
