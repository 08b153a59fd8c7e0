// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Loads the program that drops frames which nobody on this host wants (bpf/guard.bpf.c, docs/adr/0029), and
// writes its maps. It runs without the daemon.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "datapath/bpf/guard_abi.h"
#include "model/guard.h"

#include <array>
#include <memory>
#include <optional>

namespace teamo {

using GuardCounters = std::array<std::uint64_t, TEAMO_GUARD_REASONS>; ///< by teamo_guard_reason

class GuardProgram {
public:
    static Result<GuardProgram> load();
    GuardProgram(GuardProgram&&) noexcept;
    GuardProgram& operator=(GuardProgram&&) noexcept;
    ~GuardProgram();

    /// Writes only differences. No wanted frame is dropped meanwhile: an address is added before the mode
    /// drops, and removed last. After a failure the guard has stepped aside; if that fails too, it keeps
    /// all addresses, and the next call writes everything.
    Result<> apply(const GuardTables& tables);
    /// Until then it drops; afterwards it passes everything, so that a dead daemon does not hide new
    /// addresses.
    Result<> drop_until(Clock::time_point until) const;
    Result<GuardCounters> read_counters() const;
    int program() const; ///< the descriptor, to attach

private:
    struct Loaded;
    explicit GuardProgram(std::unique_ptr<Loaded> loaded);
    Result<> write_tables(const GuardTables& tables);

    std::unique_ptr<Loaded> loaded_;
    std::optional<GuardTables> applied_ = GuardTables{}; ///< what the maps have; none: not known
    GuardTables keys_;                                   ///< all addresses that may be in the maps
};

} // namespace teamo
