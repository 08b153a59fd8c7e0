// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Keeps a copy of the kernel's devices. It subscribes to the events before it first reads all devices, so
// that no change is missed; after an overrun it reads all devices again.
#pragma once

#include "daemon/context/log.h"
#include "daemon/context/loop.h"
#include "kernel/netlink/links.h"
#include "kernel/netlink/netlink_socket.h"

#include <functional>
#include <memory>
#include <set>
#include <utility>

namespace teamo {

class Observer {
public:
    /// Reads all devices. After listen(), `changed` is called after every batch of events.
    static Result<std::unique_ptr<Observer>> make(const Log& log, std::function<void()> changed);

    Result<> listen(sd_event* loop);

    /// Reads the events in the queue, without calling `changed`; for decisions that need the current state.
    void catch_up();

    /// Reads all devices again. For changes without an event: names and marks of a device that is down
    /// (net/core/dev.c: netdev_state_change). catch_up() tries again after a failure.
    Result<> refresh();
    /// The same for one device. ENODEV: it is gone.
    Result<Link> read_now(IfIndex device);
    /// The device that has this name or this alternative name now; nullptr: there is none.
    const Link* find_now(std::string_view name);
    /// Whether events were lost and the devices could not be read since.
    bool is_stale() const { return stale_; }

    /// Reads the events in the queue, reads these devices again, then calls `changed`.
    void reread(const std::set<IfIndex>& devices);
    /// For a loss that the kernel has not reported yet: marks these links down and calls `changed`, then
    /// reads them again and calls it again, since the carrier may be back by now.
    void lost_carrier(const std::set<IfIndex>& devices);

    const Links& links() const { return links_; }
    /// Devices that were removed since the last call. One of them may exist again: the index came back with
    /// another device, or with the same one from another namespace.
    std::set<IfIndex> take_removed() { return std::exchange(removed_, {}); }
    bool has_removed(IfIndex device) const { return removed_.contains(device); }
    /// The next take_removed() does not have this device: what was known of it is of the present one.
    void forget_removed(IfIndex device) { removed_.erase(device); }
    /// Whether events were lost since the last call, so that removed devices may be missing above.
    bool take_gap() { return std::exchange(gap_, false); }
    /// The number of events read so far.
    std::uint64_t events_taken() const { return events_taken_; }
    /// To record a change that this process has just made, before its event arrives; nullptr: no such device.
    Link* edit(IfIndex index);

private:
    Observer(NetlinkSocket events, LinkControl control, const Log& log, std::function<void()> changed)
        : events_(std::move(events)), control_(std::move(control)), log_(log), changed_(std::move(changed)) {}
    void take(const nlmsghdr* message);

    NetlinkSocket events_;
    LinkControl control_;
    const Log& log_;
    std::function<void()> changed_;
    Links links_;
    std::set<IfIndex> to_reread_; ///< devices whose last event may be outdated
    std::set<IfIndex> removed_;
    bool stale_ = false, gap_ = false;
    std::uint64_t events_taken_ = 0;
    std::optional<Io> io_;
};

} // namespace teamo
