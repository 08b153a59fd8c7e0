// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The programs of lib/datapath/bpf in the kernel: loaded, hung on the devices, and told by their maps what
// to do. They need no daemon: a tc filter keeps its program, and the program its maps.
#pragma once

#include "datapath/datapath.h"

namespace teamo {

class BpfDatapath final : public Datapath {
public:
    /// Loads programs and maps; nothing hangs anywhere yet. Tables by which CPUs choose (HashField::cpu) need
    /// a datapath that was loaded with `by_cpu`: a place for every flow, some 5 MB.
    static Result<std::unique_ptr<BpfDatapath>> load(bool by_cpu);
    ~BpfDatapath() override;

    std::string_view name() const override { return "bpf"; }
    bool kernel_manages_ports() const override { return false; }
    bool announces_gains() const override { return false; }
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    /// Hangs the transmit program on the device, in place of an older one.
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    /// Hangs the receive program on a port, in place of an older one.
    Result<bool> makes_something(IfIndex port) const override;
    Result<> attach_port(IfIndex port) override;
    Result<> detach_port(IfIndex port, bool made) override;
    /// Slots that stop carrying stop first, with one write; slots that start come last, when all they need
    /// is there.
    Result<> apply(const Tables& tables) override;
    Result<std::array<PortCounters, max_ports + 1>> read_counters() override;
    Result<BucketCounters> read_bucket(std::uint8_t bucket) override;
    bool moves_in_gaps() const override { return true; }
    bool has_moved(std::uint8_t bucket) const override;

private:
    struct Programs;
    explicit BpfDatapath(std::unique_ptr<Programs> programs);
    Result<> write_live(SlotSet transmit, SlotSet receive);
    Result<> write_team(const Tables& tables);
    Result<> write_drains(const Tables& now, const Tables& next);
    Result<> write_cpu_slots(const Tables& now, const Tables& next, bool all);
    Result<> write_buckets(const Tables& now, const Tables& next, bool all);

    std::unique_ptr<Programs> programs_;
    std::optional<Tables> applied_;
};

} // namespace teamo
