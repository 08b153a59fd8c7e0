// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A copy of the kernel's devices, one for all teams of the process. It subscribes to the events before it
// first reads all devices, so that no change is missed; after an overrun it reads all devices again, and so
// it does, with growing pauses, as long as devices come and go while it reads them.
#pragma once

#include "base/clock.h"
#include "daemon/context/interests.h"
#include "daemon/context/log.h"
#include "daemon/context/loop.h"
#include "kernel/netlink/links.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/device_index.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace teamo {

class Observer;

class DeviceTable {
public:
    /// Reads all devices. `log` must outlive it.
    static Result<std::unique_ptr<DeviceTable>> make(const Log& log, sd_event* loop);
    ~DeviceTable();
    DeviceTable(const DeviceTable&) = delete;
    DeviceTable& operator=(const DeviceTable&) = delete;

    const Links& links() const { return links_; }
    /// Of links().
    const DeviceIndex& index() const { return index_; }
    std::size_t observers() const { return observers_.size(); }
    /// Reads the events in the queue. Observers that they concern are told soon.
    void catch_up();
    /// Reads all devices again. After a failure, or if the list changed meanwhile, they are read again soon.
    Result<> refresh();

private:
    friend class Observer;
    DeviceTable(NetlinkSocket events, LinkControl control, const Log& log)
        : events_(std::move(events)), control_(std::move(control)), log_(log) {}
    /// Tells the observers that the device concerns now, or concerned `before`.
    void note(void (Observer::*note)(const Link&), const Link& link, const Link* before = nullptr);
    void note_gap();
    void tell_soon(Observer& observer);
    void take(const nlmsghdr* message);
    void put(Link link);
    void erase(IfIndex index);
    void forget(IfIndex index);
    void note_interrupted();
    Result<Link> read(IfIndex device);
    bool edit(IfIndex index, const std::function<void(Link&)>& change);
    void tell();

    NetlinkSocket events_;
    LinkControl control_;
    const Log& log_;
    std::vector<Observer*> observers_;
    Interests interests_;
    std::vector<Observer*> waiting_; ///< to be told of events that were read
    Links links_;
    DeviceIndex index_;
    std::set<IfIndex> to_reread_; ///< devices whose last event may be outdated
    bool stale_ = false;
    unsigned interrupted_ = 0;      ///< how often the list changed while it was read, in a row
    Clock::time_point next_read_{}; ///< if it is stale
    std::optional<Io> io_;
    std::optional<Deferred> tell_soon_;
    std::optional<Timer> read_again_;
};

} // namespace teamo
