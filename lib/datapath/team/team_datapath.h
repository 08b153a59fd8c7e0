// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel's team driver as a datapath, with corrections of its weaknesses: our own hash instead of an XOR;
// an explicit port for every bucket (the driver divides by the number of ports, so that the loss of one moves
// nearly every flow); and ports without a link are disabled, because the driver's loadbalance mode still
// sends to them (team_mode_loadbalance.c: lb_transmit).
#pragma once

#include "datapath/datapath.h"
#include "datapath/forward_programs.h"
#include "datapath/programs/device_programs.h"
#include "datapath/slave_counters.h"
#include "datapath/team/bucket_meter.h"
#include "datapath/team/team_driver.h"

namespace teamo {

/// False if the programs were built without libteam (open_without_libteam.cpp): then the kernel's team driver
/// is not used, even if the kernel has it.
bool knows_team_driver();

class TeamDatapath final : public Datapath {
public:
    /// ENOTSUP: built without libteam.
    static Result<std::unique_ptr<Datapath>> open(TransmitMode mode, DevicePrograms& hooks);

    std::string_view name() const override { return "team"; }
    bool kernel_manages_ports() const override { return true; }
    bool sets_carrier() const override { return true; }
    bool announces_gains() const override { return true; } // drivers/net/team: team_port_enable
    bool can_run(const TeamConfig& config) const override { return mode_of(config.runner) == mode_; }
    bool can_only_receive() const override { return receives_apart_; }
    LinkSight link_sight() const override;
    Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                     const MacAddress& address) override;
    Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                  bool take_over) const override;
    Result<> attach_team(const TeamDevice& device, const Tables& tables) override;
    Result<bool> lacks_program(IfIndex port) const override;
    /// The port must be down: the driver sets it up (team_port_add).
    Result<> attach_port(IfIndex port, Slot slot) override;
    Result<> detach_port(IfIndex port, bool made_clsact) override;
    Result<> apply(const Tables& tables) override;
    Result<std::array<PortCounters, max_ports + 1>> read_counters() override;
    Result<BucketCounters> read_bucket(std::uint8_t bucket) override;
    Result<AllBucketCounters> read_buckets() override;
    bool moves_in_gaps() const override { return false; }
    bool has_moved(std::uint8_t /*bucket*/) const override { return false; }
    std::optional<int> event_fd() const override;
    Result<> take_events() override;

private:
    static SlotSet enabled_slots(const Tables& tables);
    Result<BucketMeter*> meter();
    TeamDatapath(TransmitMode mode, DevicePrograms& hooks, LinkControl links, SlaveCounters counters,
                 bool receives_apart)
        : mode_(mode),
          hooks_(hooks),
          links_(std::move(links)),
          counters_(std::move(counters)),
          receives_apart_(receives_apart) {}
    Result<> set_mode(TransmitMode mode);
    Result<> set_team_options(const Tables& tables);
    Result<> set_port_options(const Tables& tables);
    Result<> set_carrying(const Tables& tables);
    using WayOptions = std::array<std::optional<TeamValue>, 3>; ///< enabled, rx_enabled, tx_enabled
    /// What a port may do, as we last set it, and the driver's options after that: they change when another
    /// program sets one of them.
    struct Ways {
        IfIndex port;
        bool receives = false, transmits = false, written = false;
        WayOptions options{};
    };
    WayOptions way_options(IfIndex port) const;
    Result<> set_ways(Ways& ways, IfIndex port, bool receives, bool transmits);
    Result<> set_each_way(const Tables& tables);
    Result<> map_buckets(const std::function<IfIndex(std::uint32_t bucket)>& port_of);
    void relieve(IfIndex port);

    TransmitMode mode_;
    DevicePrograms& hooks_;
    LinkControl links_;
    /// On the egress of each port: sends by another port while this one has no link. Only for the mode
    /// loadbalance; the others choose among ports with a link, except activebackup, which would receive
    /// nothing by another port. docs/adr/0023.
    std::optional<ForwardPrograms> avoidance_;
    SlaveCounters counters_;
    bool receives_apart_; ///< mode hash: the driver has rx_enabled and tx_enabled beside enabled
    IfIndex team_;
    std::optional<TeamDriver> driver_; ///< set when there is a device
    std::optional<Error> meter_refused_;
    std::optional<BucketMeter> meter_; ///< opened by the first meter()
    std::optional<Tables> applied_;    ///< none: something failed, or there was a driver event since
    std::array<IfIndex, max_ports + 1> ports_{};
    std::array<Ways, max_ports + 1> ways_{}; ///< by slot, if receives_apart_
};

} // namespace teamo
