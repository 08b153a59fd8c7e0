// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The one place that changes a team's journal and writes its file. An entry must be in the file before its
// device is touched, so callers edit, keep(), and then act; what can wait is written at the end of a pass.
#pragma once

#include "base/clock.h"
#include "log.h"
#include "plan/team/repair.h"
#include "runtime/journal.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo {

class JournalKeeper {
public:
    JournalKeeper(std::string team, const Log& log);

    /// The file of an earlier daemon; none if there is no file. A malformed file is logged and
    /// renamed. A passing failure (is_passing()): try again later.
    Result<std::optional<Journal>> read();
    /// Continues with this journal, which is what the file contains.
    void adopt(Journal journal);

    /// Writes the file if something has changed.
    Result<> keep();
    /// The same at the end of a pass: logs a failure once, and asks for another try by deadline().
    void save();
    std::optional<Clock::time_point> deadline() const;
    /// The last failure of save(); empty: it succeeded.
    const std::string& complaint() const { return failure_.text(); }
    void remove_file();
    /// The next keep() writes, whatever the file contains.
    void forget_file() { written_ = {}; }

    // ---- ports -------------------------------------------------------------------------------------
    const std::vector<PortBefore>& ports() const { return journal_.ports; }
    std::vector<PortBefore>& edit_ports() { return journal_.ports; }
    /// Owned by the journal; nullptr if there is no entry. Invalid after the next change of the list.
    PortBefore* port(IfIndex port);
    const PortBefore* port(IfIndex port) const;
    void erase(IfIndex port);
    /// Writes what settings of a port were before they change. `offloads`: what was on when it joined.
    /// ENODEV: no port.
    Result<> remember_features(IfIndex port, const FeatureSettings& before, const FeatureNames& offloads);
    /// The settings of a port's interrupts that we have changed; nullptr: no port.
    SetCpus* cpus(IfIndex port);

    // ---- configured ports that the administrator removed ---------------------------------------------
    void note_removed(const std::string& port) { journal_.removed_by_hand.push_back(port); }
    void forget_removed(const std::string& port) { std::erase(journal_.removed_by_hand, port); }
    bool was_removed(const std::string& port) const;

    // ---- the team ------------------------------------------------------------------------------------
    void set_making(bool making) { journal_.making = making; }
    void set_device(IfIndex team, IfIndex inner, FeatureNames offloads);
    const FeatureNames& offloads() const { return journal_.offloads; }
    void set_active(std::optional<IfIndex> port) { journal_.active = port; }
    std::optional<IfIndex> active() const { return journal_.active; }
    std::array<Slot, bucket_count>& owners() { return journal_.owners; }
    const std::array<Slot, bucket_count>& owners() const { return journal_.owners; }
    BoundWorkers& workers() { return journal_.workers; }

private:
    std::string team_;
    const Log& log_;
    Journal journal_, written_; ///< now, and in the file
    LogOnce failure_;           ///< of save()
    Patience patience_;
};

} // namespace teamo
