// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which device is which port: the marks of the devices, and the entries of the journal, also those of an
// earlier daemon. They change no setting of a device but its mark.
#pragma once

#include "base/result.h"
#include "daemon/context/team_context.h"
#include "runtime/journal.h"

#include <set>
#include <vector>

namespace teamo {

class PortEntries {
public:
    explicit PortEntries(TeamContext& context) : context_(context) {}

    /// With the kernel's drivers a device's master shows which team it belongs to.
    bool is_slave(const Link& link) const;
    /// An entry of the journal is valid only for such a device.
    bool is_ours(const Link& link) const;
    bool is_added_by_others(const Link& link) const;
    /// Another program has removed the port, or has made it a port of something else.
    bool has_left(const Link& link) const;
    /// A device that was in another network namespace has lost our settings, and nobody uses it. One that
    /// another program removed from the team keeps them.
    bool was_moved(const PortBefore& port, const Link& link) const;
    /// Indexes are reused: an entry is that of another device if the device lacks the team's mark, or has
    /// that of another slot. A port that is joining may not have it yet, or that of its former slot. The
    /// device of such an entry is elsewhere; it may return.
    void forget_reused_indexes(std::vector<PortBefore>& ports) const;
    /// The entry of the port that this device was before it was away. Its mark shows that, also if it was
    /// renamed meanwhile; without a mark it is another device, which replaces the port of its name. Two
    /// entries may have the same slot, of which the one with its name is chosen.
    const PortBefore* away_entry(const Link& link) const;
    /// A port that was away gets its former slot, which others get only when there is no other.
    Result<Slot> slot_for(const Link& link) const;
    /// The state of a device before it joined. A port that was away, for example in a container's namespace,
    /// comes back as we left it.
    PortBefore begin(const Link& link, Slot slot);
    /// If an entry's device is gone: marks the entry as away, also if the port was joining, else removes it.
    /// `returned`: gone too, although a device has that index again.
    void mark_away(const std::set<IfIndex>& returned = {});
    /// Must be the first step: without the mark an entry of the journal is not valid for the device.
    Result<> mark(const Link& link, Slot slot);
    /// Must be the last step.
    Result<> unmark(IfIndex port);
    /// Whether a bond of others to which another team is attached has the device by now, or is that device.
    /// That team's journal tells it before its programs are there.
    bool is_of_another_team(IfIndex device) const;
    /// Before clsact is made on a port, so that any process knows that it must be removed.
    Result<> note_clsact(IfIndex device);

private:
    TeamContext& context_;
};

} // namespace teamo
