// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A team's journal and its file. An entry must be in the file before its device is touched, so callers
// edit(), keep(), and then act; what can wait is written at the end of a pass.
#pragma once

#include "base/clock.h"
#include "daemon/context/log.h"
#include "plan/team/repair.h"
#include "runtime/journal.h"

#include <optional>
#include <string>

namespace teamo {

class JournalKeeper {
public:
    JournalKeeper(std::string team, const Log& log);

    /// The file of an earlier daemon; none if there is no file. A malformed file is logged and renamed. A
    /// passing failure (is_passing()): try again later.
    Result<std::optional<Journal>> read();
    /// Continues with this journal, which is what the file contains.
    void adopt(Journal journal) { journal_ = written_ = std::move(journal); }

    const Journal& now() const { return journal_; }
    /// The next keep() writes what is changed.
    Journal& edit() { return journal_; }

    /// Writes the file if something has changed.
    Result<> keep();
    /// The same at the end of a pass: logs a failure once, and asks for another try by deadline().
    void save();
    std::optional<Clock::time_point> deadline() const;
    /// The last failure of save(); empty: it succeeded.
    const std::string& failure() const { return failure_.text(); }
    void remove_file();
    /// The next keep() writes, whatever the file contains.
    void forget_file() { written_ = {}; }

    /// Owned by the journal; nullptr if there is no entry. Invalid after the next change of the list.
    PortBefore* port(IfIndex port);
    /// Writes what settings of a port were before they change. `offloads`: what was on when it joined.
    /// ENODEV: no port.
    Result<> remember_features(IfIndex port, const FeatureSettings& before, const FeatureNames& offloads);
    /// The settings of a port's interrupts that we have changed; nullptr: no port.
    SetCpus* cpus(IfIndex port);
    BoundWorkers& workers() { return journal_.workers; }

private:
    std::string team_;
    const Log& log_;
    Journal journal_, written_;        ///< now, and in the file
    LogOnce failure_;                  ///< of save()
    std::optional<Patience> patience_; ///< after a failure of save()
};

} // namespace teamo
