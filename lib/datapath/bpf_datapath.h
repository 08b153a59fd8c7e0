// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The programs of lib/datapath/bpf in the kernel: loaded, hung on the devices, and told by their maps what
// to do. They need no daemon: a tc filter keeps its program, and the program its maps.
#pragma once

#include "base/result.h"
#include "model/status.h"
#include "model/tables.h"

#include <array>
#include <memory>
#include <optional>

namespace teamo {

class BpfDatapath {
public:
    /// Loads programs and maps; nothing hangs anywhere yet.
    static Result<BpfDatapath> load();

    BpfDatapath(BpfDatapath&&) noexcept;
    BpfDatapath& operator=(BpfDatapath&&) noexcept;
    ~BpfDatapath();

    /// Puts the tables into effect: what differs from the last ones, nothing else. Slots that stop carrying
    /// stop first, with one write; slots that start come last, when all they need is there.
    Result<> apply(const Tables& tables);

    /// Hangs the transmit program on the team's device (`kind` as TeamDevice has it), in place of an older
    /// one.
    Result<> attach_team(IfIndex team, IfIndex inner, std::string_view kind);
    /// Hangs the receive program on a port, in place of an older one. True: clsact was made for it.
    Result<bool> attach_port(IfIndex port);
    Result<> detach_port(IfIndex port, bool made_clsact);

    /// By slot; [0].rx_dropped and .tx_packets count what had no port to go to.
    Result<std::array<PortCounters, max_ports + 1>> read_counters() const;

private:
    struct Programs;
    explicit BpfDatapath(std::unique_ptr<Programs> programs);
    Result<> write_live(SlotSet transmit, SlotSet receive);
    Result<> write_team(const Tables& tables);
    Result<> write_buckets(const Buckets& now, const Buckets& next, bool all);

    std::unique_ptr<Programs> programs_;
    std::optional<Tables> applied_;
};

} // namespace teamo
