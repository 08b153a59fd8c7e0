// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A datapath whose port is chosen by our program. The team's device is made by bpf_datapath.h (a pair of
// devices) or bond/queue_bond.h (the kernel's bonding driver).
#pragma once

#include "datapath/datapath.h"
#include "datapath/forward_programs.h"
#include "datapath/programs/device_programs.h"

namespace teamo {

class ProgramDatapath : public Datapath {
public:
    bool announces_gains() const final { return false; }
    bool can_only_receive() const final { return true; }
    LinkSight link_sight() const final {
        if (programs_.see_links()) return {.sees = true, .reason = {}};
        return {.sees = false, .reason = "the kernel refuses a BPF program that reads the ports' devices"};
    }
    Result<> apply(const Tables& tables) override { return programs_.apply(tables); }
    bool counts_by_program() const final { return true; }
    Result<std::array<PortCounters, max_ports + 1>> read_counters() final {
        return programs_.read_counters();
    }
    Result<BucketCounters> read_bucket(std::uint8_t bucket) final { return programs_.read_bucket(bucket); }
    Result<AllBucketCounters> read_buckets() final { return programs_.read_buckets(); }
    bool moves_in_gaps() const final { return true; }
    bool has_moved(std::uint8_t bucket) const final { return programs_.has_moved(bucket); }

protected:
    ProgramDatapath(ForwardPrograms programs, DevicePrograms& hooks)
        : programs_(std::move(programs)), hooks_(hooks) {}
    const ForwardPrograms& programs() const { return programs_; }
    DevicePrograms& hooks() const { return hooks_; }

private:
    ForwardPrograms programs_;
    DevicePrograms& hooks_;
};

} // namespace teamo
