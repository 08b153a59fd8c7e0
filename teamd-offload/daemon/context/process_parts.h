// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the teams of a process have of the machine together, so that it is there once and each event is read
// once, however many teams there are.
#pragma once

#include "announce/proc_groups.h"
#include "base/clock.h"
#include "daemon/context/device_table.h"
#include "daemon/context/socket_store.h"
#include "datapath/programs/device_programs.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/counters.h"
#include "kernel/netlink/links.h"
#include "kernel/packets/packet_socket.h"
#include "model/balance.h"
#include "plan/interrupts/team_plans.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace teamo {

/// Tells what was read to all that listen. Each listens as long as it keeps what listen() returned.
template <class Seen>
class Broadcast {
public:
    using Take = std::function<void(const Seen&)>;
    using Listener = std::shared_ptr<Take>;

    Listener listen(Take take) {
        auto listener = std::make_shared<Take>(std::move(take));
        listeners_.push_back(listener);
        return listener;
    }
    void tell(const Seen& seen) {
        std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
        for (const auto& listener : std::vector(listeners_)) // one that is told may end, and another begin
            if (const auto take = listener.lock()) (*take)(seen);
    }

private:
    std::vector<std::weak_ptr<Take>> listeners_;
};

/// Devices whose qdiscs or filters have changed.
struct SeenHooks {
    std::set<IfIndex> devices;
    bool lost = false; ///< events were lost: any device may have changed
};

class ProcessParts {
public:
    /// `log` must outlive it.
    static Result<std::unique_ptr<ProcessParts>> make(const Log& log, sd_event* loop);

    /// How long to wait until something is polled again that has no event: longer with more than a hundred
    /// teams, at most five times, so that five hundred cost no more of a CPU than a hundred.
    std::chrono::microseconds pause(std::chrono::microseconds alone) const;

    /// Those of a device that are worth a report, as they were a moment ago at most. Only a text with the
    /// groups of all devices tells the version of IGMP (and the groups before Linux 6.15), and when many
    /// teams lose a link at once each needs it. The kernel itself reports what was joined since. nullptr:
    /// none, or they cannot be read.
    const announce::Ipv4Groups* ipv4_groups(IfIndex device);

    /// The counters of the queues of these ports, `age` old at most: the kernel tells those of all or none
    /// (kernel/netlink/counters.h), and five hundred teams that send would each ask for them. They are not
    /// read if none of the ports has a queue.
    struct Queues {
        DeviceQueues all{};
        Clock::time_point read{};
        const QueueCounters& of(IfIndex device) const;
    };
    template <class Ports>
    Result<const Queues*> queues(std::chrono::milliseconds age, const Ports& ports) {
        const auto lacks = [this](const auto& port) { return has_no_queue(port.index); };
        if (std::ranges::all_of(ports, lacks)) return no_queues();
        TEAMO_TRY(read_queues(age));
        for (const auto& port : ports)
            note_queue(port.index);
        return &*queues_;
    }

    std::unique_ptr<DeviceTable> devices;
    LinkControl control;
    Ethtool ethtool;
    NetlinkSocket requests; ///< NETLINK_ROUTE, strict
    PacketSocket frames;    ///< sends frames by any device
    ProgramNames program_names;
    SocketStore sockets;
    Broadcast<SeenHooks> hooks;
    Broadcast<EthtoolEvents::Seen> offloads;
    TeamPlans interrupt_plans;
    Broadcast<std::set<std::string>> interrupts_moved; ///< teams whose ports another team's plan moves

private:
    ProcessParts(std::unique_ptr<DeviceTable> its_devices, LinkControl its_control, Ethtool its_ethtool,
                 NetlinkSocket its_requests, PacketSocket its_frames, NetlinkSocket hook_events)
        : devices(std::move(its_devices)),
          control(std::move(its_control)),
          ethtool(std::move(its_ethtool)),
          requests(std::move(its_requests)),
          frames(std::move(its_frames)),
          hook_events_(std::move(hook_events)) {}
    bool has_no_queue(IfIndex device) const;
    const Queues* no_queues();
    Result<> read_queues(std::chrono::milliseconds age);
    void note_queue(IfIndex device);
    void take_hooks();
    void take_offloads();

    std::map<IfIndex, announce::Ipv4Groups> ipv4_groups_;
    Clock::time_point ipv4_groups_read_{};
    std::optional<Queues> queues_;
    Queues no_queues_;
    std::map<IfIndex, std::string> without_queue_; ///< until a qdisc changes; with the name then
    NetlinkSocket hook_events_;
    std::optional<EthtoolEvents> offload_events_; ///< none: this kernel reports no changes
    std::optional<Io> hook_io_, offload_io_;
};

} // namespace teamo
