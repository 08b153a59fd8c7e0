// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Loads the program that drops frames which nobody on this host wants (bpf/guard.bpf.c, docs/adr/0029), and
// writes its maps. It runs without the daemon.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/result.h"
#include "datapath/bpf/guard_abi.h"

#include <array>
#include <memory>
#include <set>

namespace teamo {

enum class GuardMode : std::uint8_t {
    aside, ///< passes everything
    arp,   ///< drops ARP requests and neighbour solicitations for other hosts
    full,  ///< also frames to MAC addresses of other hosts, and what exceeds the rates
};

/// What the guard has to know. Addresses are those of the team and of everything on it.
struct GuardTables {
    GuardMode mode = GuardMode::aside;
    std::set<IpAddress> addresses{};
    std::set<MacAddress> macs{};
    std::set<std::uint16_t> vlans{};  ///< with a device here; frames of the others pass
    std::uint32_t rate = 0;           ///< broadcasts per second, and multicasts; 0: no limit
    std::uint32_t rate_by_sender = 0; ///< both together, of one source MAC address; 0: no limit
    bool operator==(const GuardTables&) const = default;
};

using GuardCounters = std::array<std::uint64_t, TEAMO_GUARD_REASONS>; ///< by teamo_guard_reason

class GuardProgram {
public:
    static Result<GuardProgram> load();
    GuardProgram(GuardProgram&&) noexcept;
    GuardProgram& operator=(GuardProgram&&) noexcept;
    ~GuardProgram();

    /// Writes only differences. No wanted frame is dropped meanwhile: an address is added before the mode
    /// drops, and removed last. After a failure the guard has stepped aside.
    Result<> apply(const GuardTables& tables);
    Result<GuardCounters> read_counters() const;
    int program() const; ///< the descriptor, to attach

private:
    struct Loaded;
    explicit GuardProgram(std::unique_ptr<Loaded> loaded);
    Result<> write_tables(const GuardTables& tables);

    std::unique_ptr<Loaded> loaded_;
    GuardTables applied_; ///< what the maps have
};

} // namespace teamo
