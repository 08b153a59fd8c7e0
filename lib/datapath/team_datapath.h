// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel's team driver as a datapath. What it does badly by itself is met here: the hash is ours and not
// a folding XOR, every bucket has its port by name (else the driver divides by the number of ports, and
// losing one moves nearly every flow), and a port whose link is gone is taken out, since the driver's
// loadbalance sends into it all the same (team_mode_loadbalance.c: lb_transmit).
#pragma once

#include "datapath/bucket_meter.h"
#include "datapath/datapath.h"
#include "datapath/team_driver.h"

#include <map>

namespace teamo {

class TeamDatapath final : public Datapath {
public:
    static Result<std::unique_ptr<TeamDatapath>> open();

    std::string_view name() const override { return "team"; }
    bool kernel_manages_ports() const override { return true; }
    bool announces_gains() const override { return true; } // drivers/net/team: team_port_enable
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    Result<bool> makes_something(IfIndex /*port*/) const override { return false; }
    /// The port must be down: the driver opens it (team_port_add).
    Result<> attach_port(IfIndex port) override;
    Result<> detach_port(IfIndex port, bool made) override;
    Result<> apply(const Tables& tables) override;
    Result<std::array<PortCounters, max_ports + 1>> read_counters() override;
    Result<BucketCounters> read_bucket(std::uint8_t bucket) override;
    bool moves_in_gaps() const override { return false; }
    bool has_moved(std::uint8_t /*bucket*/) const override { return false; }
    std::optional<int> event_fd() const override;
    Result<> take_events() override;

private:
    TeamDatapath(LinkControl links, NetlinkSocket stats)
        : links_(std::move(links)), stats_(std::move(stats)) {}
    Result<> set_mode(TransmitMode mode);
    Result<> set_team_options(const Tables& tables);
    Result<> set_port_options(const Tables& tables);
    Result<> set_carrying(const Tables& tables);
    Result<> set_mapping(const Tables& tables);

    LinkControl links_;
    NetlinkSocket stats_;
    IfIndex team_;
    std::optional<TeamDriver> driver_; ///< once there is a device
    std::optional<BucketMeter> meter_; ///< once the team hashes; none where the kernel does not let it
    std::optional<Tables> applied_;    ///< none: something was refused, or the driver has had news since
    std::array<IfIndex, max_ports + 1> ports_{};
    std::map<IfIndex, PortCounters> baselines_; ///< what a port had counted before it was looked at
};

} // namespace teamo
