// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Our programs on a pair of devices, of which one end is the team: they carry the packets between the pair
// and the ports, so the kernel needs no driver for aggregation. Packets that the host sends through the team
// arrive at the inner end, where a program redirects them to a port. Packets that a port receives are sent
// out of the inner end and arrive at the team's end, counted and visible as on any device.
#pragma once

#include "datapath/accepted_frames.h"
#include "datapath/datapath.h"
#include "datapath/forward_programs.h"
#include "datapath/programs/device_programs.h"

namespace teamo {

/// The pair of that team, as Datapath::find_device(). EEXIST also if the inner end is gone.
Result<std::optional<TeamDevice>> find_pair(const Links& links, const std::string& name);

class BpfDatapath final : public Datapath {
public:
    /// `hash`: of the tables. `team`: the team's name.
    static Result<std::unique_ptr<BpfDatapath>> open(HashKind hash, const std::string& team,
                                                     DevicePrograms& hooks);

    std::string_view name() const override { return "bpf"; }
    bool kernel_manages_ports() const override { return false; }
    bool announces_gains() const override { return false; }
    bool can_only_receive() const override { return true; }
    LinkSight link_sight() const override;
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    /// Attaches the transmit program to the device, replacing an older one.
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    Result<bool> lacks_program(IfIndex port) const override;
    /// Attaches the receive program to a port, replacing an older one.
    Result<> attach_port(IfIndex port, Slot slot) override;
    Result<> detach_port(IfIndex port, bool made_clsact) override;

    Result<> apply(const Tables& tables) override;
    Result<> catch_accepted(const std::map<IfIndex, std::string>& ports) override {
        return accepted_.follow(ports, port_protocol_);
    }
    bool catches_accepted(IfIndex port) const override { return accepted_.has(port); }
    bool counts_by_program() const override { return true; }
    Result<std::array<PortCounters, max_ports + 1>> read_counters() override {
        return programs_.read_counters();
    }
    Result<BucketCounters> read_bucket(std::uint8_t bucket) override { return programs_.read_bucket(bucket); }
    Result<AllBucketCounters> read_buckets() override { return programs_.read_buckets(); }
    Result<std::vector<LearnedAddress>> read_addresses() override { return programs_.read_addresses(); }
    bool moves_in_gaps() const override { return true; }
    bool has_moved(std::uint8_t bucket) const override { return programs_.has_moved(bucket); }

private:
    BpfDatapath(ForwardPrograms programs, const std::string& team, DevicePrograms& hooks)
        : programs_(std::move(programs)),
          hooks_(hooks),
          accepted_(hooks, programs_.recheck(), "teamo-" + team) {}

    ForwardPrograms programs_;
    DevicePrograms& hooks_;
    AcceptedFrames accepted_;
    std::uint16_t port_protocol_ = 0; ///< Tables::port_protocol
};

} // namespace teamo
