// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Loads the programs of lib/datapath/bpf, which choose the port of each packet, and writes their maps. They
// run without the daemon: a tc filter holds its program, and the program its maps. The team's device is made
// by bpf_datapath.h (a pair of devices) or bond_datapath.h (the kernel's bonding driver).
#pragma once

#include "datapath/bpf/abi.h"
#include "datapath/datapath.h"
#include "datapath/write_order.h"

namespace teamo {

class ProgramDatapath : public Datapath {
public:
    bool announces_gains() const final { return false; }
    LinkSight link_sight() const final;
    /// First stops the slots that no longer carry, with one write; last starts the new ones, when everything
    /// that they need is written.
    Result<> apply(const Tables& tables) override;
    Result<std::array<PortCounters, max_ports + 1>> read_counters() final;
    Result<BucketCounters> read_bucket(std::uint8_t bucket) final;
    bool moves_in_gaps() const final { return true; }
    bool has_moved(std::uint8_t bucket) const final;

protected:
    struct Programs; ///< loaded, and their maps

    /// Loads programs and maps, without attaching them. Tables with HashField::cpu need programs that were
    /// loaded with `by_cpu`, which have a map entry for every flow, about 5 MB.
    static Result<std::shared_ptr<Programs>> load(teamo_exit exit, bool by_cpu);
    explicit ProgramDatapath(std::shared_ptr<Programs> programs) : programs_(std::move(programs)) {}

    // Descriptors of the programs, to attach.
    int transmit() const;
    int receive() const;
    int clear_queue() const; ///< only with TEAMO_EXIT_BOND

private:
    Result<> write_live(const LiveSlots& slots);
    Result<> write_team(const Tables& tables);
    Result<> write_devices(const Tables& now, const Tables& next, bool all);
    void learn_device(IfIndex port) const;
    Result<> write_drains(const Tables& now, const Tables& next);
    Result<> write_cpu_slots(const Tables& now, const Tables& next, bool all);
    Result<> write_buckets(const Tables& now, const Tables& next, bool all);

    std::shared_ptr<Programs> programs_; ///< shared only because its type is not complete here
    std::optional<Tables> applied_;
};

} // namespace teamo
