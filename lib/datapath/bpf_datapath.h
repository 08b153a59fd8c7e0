// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Loads the programs of lib/datapath/bpf, attaches them to the devices and writes their maps. They run
// without the daemon: a tc filter holds its program, and the program its maps.
#pragma once

#include "datapath/datapath.h"
#include "datapath/write_order.h"

namespace teamo {

class BpfDatapath final : public Datapath {
public:
    /// Loads programs and maps, without attaching them. Tables with HashField::cpu need a datapath that was
    /// loaded with `by_cpu`, which has a map entry for every flow, about 5 MB.
    static Result<std::unique_ptr<BpfDatapath>> load(bool by_cpu);
    ~BpfDatapath() override;

    std::string_view name() const override { return "bpf"; }
    bool kernel_manages_ports() const override { return false; }
    bool announces_gains() const override { return false; }
    LinkSight link_sight() const override;
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    /// Attaches the transmit program to the device, replacing an older one.
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    Result<bool> makes_something(IfIndex port) const override;
    /// Attaches the receive program to a port, replacing an older one.
    Result<> attach_port(IfIndex port) override;
    Result<> detach_port(IfIndex port, bool made) override;
    /// First stops the slots that no longer carry, with one write; last starts the new ones, when everything
    /// that they need is written.
    Result<> apply(const Tables& tables) override;
    Result<std::array<PortCounters, max_ports + 1>> read_counters() override;
    Result<BucketCounters> read_bucket(std::uint8_t bucket) override;
    bool moves_in_gaps() const override { return true; }
    bool has_moved(std::uint8_t bucket) const override;

private:
    struct Programs;
    explicit BpfDatapath(std::unique_ptr<Programs> programs);
    Result<> write_live(const LiveSlots& slots);
    Result<> write_team(const Tables& tables);
    Result<> write_devices(const Tables& now, const Tables& next, bool all);
    void learn_device(IfIndex port) const;
    Result<> write_drains(const Tables& now, const Tables& next);
    Result<> write_cpu_slots(const Tables& now, const Tables& next, bool all);
    Result<> write_buckets(const Tables& now, const Tables& next, bool all);

    std::unique_ptr<Programs> programs_;
    std::optional<Tables> applied_;
};

} // namespace teamo
