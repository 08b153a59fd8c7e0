// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Keeps what the kernel shows as a value. Joined to the events before the first read, so that nothing falls
// between; an overrun is answered by reading everything anew.
#pragma once

#include "kernel/netlink/links.h"
#include "kernel/netlink/netlink_socket.h"
#include "log.h"
#include "loop.h"

#include <functional>
#include <memory>
#include <set>

namespace teamo {

class Observer {
public:
    /// Reads all devices. `changed` is called after every batch of events, once listen() was.
    static Result<std::unique_ptr<Observer>> make(const Log& log, std::function<void()> changed);

    Result<> listen(sd_event* loop);

    /// Takes in the events that wait now, without calling `changed`; for who must not decide on old news.
    void catch_up();

    /// Reads everything anew. For what the kernel keeps to itself: names and marks of a device that is down
    /// change without an event (net/core/dev.c: netdev_state_change). What fails is tried again by
    /// catch_up().
    Result<> refresh();
    /// The same of one device: ENODEV where it is gone.
    Result<Link> read_now(IfIndex device);
    /// Whether events were lost and what they told could not be read yet.
    bool is_stale() const { return stale_; }

    /// Takes in the events that wait and reads these devices anew, then calls `changed`.
    void read_anew(const std::set<IfIndex>& devices);
    /// For who knows before the kernel tells: `changed` is called with these links lost, and then once more
    /// with what the kernel says when it is asked, for the carrier may be back by now.
    void lost_carrier(const std::set<IfIndex>& devices);

    const Links& links() const { return links_; }
    /// Rises with each event that was taken in.
    std::uint64_t events_taken() const { return events_taken_; }
    /// What this process has just done itself, ahead of the event that will say so.
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
    std::set<IfIndex> to_reread_; ///< to be read anew: of these an event says what may be no longer so
    bool stale_ = false;
    std::uint64_t events_taken_ = 0;
    std::optional<Io> io_;
};

} // namespace teamo
