// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The devices as one team sees them: of the machine's, those that concern it.
#pragma once

#include "daemon/context/device_table.h"
#include "daemon/context/interests.h"
#include "daemon/context/log.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace teamo {

class Observer {
public:
    /// `changed` is called after listen() when events concern it; until follow() all do. `log` and `table`
    /// must outlive it.
    static Result<std::unique_ptr<Observer>> make(DeviceTable& table, const Log& log,
                                                  std::function<void()> changed);
    ~Observer();
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    void listen();
    /// True: it is another one, so that what was read in between may not have counted.
    bool follow(Interest interest);

    /// Reads the events in the queue, without calling `changed`; for decisions that need the current state.
    void catch_up();
    /// Reads all devices again. For changes without an event: names and marks of a device that is down
    /// (net/core/dev.c: netdev_state_change). catch_up() tries again after a failure.
    Result<> refresh();
    /// The same for one device. ENODEV: it is gone.
    Result<Link> read_now(IfIndex device);
    /// The device that has this name or this alternative name now; nullptr: there is none.
    const Link* find_now(std::string_view name);
    /// Whether all devices are to be read again: events were lost, or the list changed while it was read.
    bool is_stale() const { return table_.stale_; }

    /// Reads the events in the queue, reads these devices again, then calls `changed`.
    void reread(const std::set<IfIndex>& devices);
    /// For a loss that the kernel has not reported yet: marks these links down and calls `changed`, then
    /// reads them again and calls it again, since the carrier may be back by now.
    void lost_carrier(const std::set<IfIndex>& devices);

    const Links& links() const { return table_.links(); }
    const DeviceIndex& index() const { return table_.index(); }
    /// nullptr: there is no such device.
    const Link* find(std::string_view name) const;
    /// Devices that were removed since the last call. One of them may exist again: the index came back with
    /// another device, or with the same one from another namespace.
    std::set<IfIndex> take_removed() { return std::exchange(removed_, {}); }
    bool has_removed(IfIndex device) const { return removed_.contains(device); }
    /// The next take_removed() does not have this device: what was known of it is of the present one.
    void forget_removed(IfIndex device) { removed_.erase(device); }
    /// Whether events were lost since the last call, so that removed devices may be missing above.
    bool take_gap() { return std::exchange(gap_, false); }
    /// The number of events read so far that concern it.
    std::uint64_t events_taken() const { return events_taken_; }
    /// The last xmit_hash_policy of this bond that is not the one of this program: the links show only what
    /// came last.
    std::optional<BondPolicy> policy_of_others(IfIndex bond) const;
    /// Records a change that this process has just made, before its event arrives. False: no such device.
    bool edit(IfIndex index, const std::function<void(Link&)>& change) { return table_.edit(index, change); }

    // By the machine, of each event that was read and concerns it.
    void note(const Link& link);
    void note_ipv6(const Link& link);
    void note_removed(const Link& link);
    void note_gap();
    void count();
    /// Calls `changed` if there was one that nobody has asked for.
    void tell();

private:
    Observer(DeviceTable& table, const Log& log, std::function<void()> changed)
        : table_(table), log_(log), changed_(std::move(changed)) {}
    void wait();

    DeviceTable& table_;
    const Log& log_;
    std::function<void()> changed_;
    Interest interest_{.all = true};
    bool listens_ = false;
    bool waits_ = false; ///< to be told
    std::set<IfIndex> removed_;
    std::map<IfIndex, BondPolicy> policies_of_others_;
    bool gap_ = false;
    std::uint64_t events_taken_ = 0;
    std::uint64_t told_ = 0; ///< events_taken_ when the team had last seen all
};

} // namespace teamo
