// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The interface of the datapaths that carry the packets: our BPF programs on a pair of devices or on the
// kernel's bonding driver, and the kernel's team driver. All use the same Tables, and continue without a
// daemon.
#pragma once

#include "base/result.h"
#include "kernel/netlink/links.h"
#include "model/balance.h"
#include "model/status.h"
#include "model/tables.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

struct TeamDevice {
    IfIndex team;
    IfIndex inner;    ///< the inner end of a pair
    std::string kind; ///< "veth", "netkit", "team" or "bond"
};

/// What the programs of a bond in its own mode do (docs/adr/0038).
enum class Steering : std::uint8_t {
    off,
    by_hash, ///< they choose the slave of each packet
    /// Bonding chooses. Until it has noticed that the active slave has lost its link, they send by the first
    /// of Tables::standby, and hand in what arrives there.
    by_backup,
};

class Datapath {
public:
    virtual ~Datapath() = default;

    /// As in state documents: "bpf", "team" or "bond".
    virtual std::string_view name() const = 0;
    /// True if the kernel itself sets the ports' MTU and address filters and the team's carrier, and the
    /// ports have the team as master.
    virtual bool kernel_manages_ports() const = 0;

    /// True if the device and its ports belong to another program: nothing of them is changed but what
    /// steer() needs (docs/adr/0038).
    virtual bool is_guest() const { return false; }
    /// True if the device is a bond in its own mode, which steer() helps, a guest's or ours.
    virtual bool is_bond() const { return false; }
    /// Such a bond; without, it watches. It begins with the next apply() that has a port which transmits.
    virtual Result<> steer(Steering /*how*/) { return {}; }
    /// Such a bond: true if the program is there that it needs for that.
    virtual bool steers() const { return false; }
    /// Such a bond: why it cannot choose the ports; empty: it can.
    virtual std::string cannot_steer() const { return {}; }

    /// True if the kernel chooses the ports by a hash of its own, and Tables cannot say which ports carry.
    virtual bool kernel_hashes() const { return false; }

    /// True if the device, whose mode cannot change while the team has ports, fits that runner.
    virtual bool can_run(const TeamConfig& /*config*/) const { return true; }

    /// True if a port can receive without transmitting (Tables::receive).
    virtual bool can_only_receive() const { return false; }
    /// True if the team's carrier can be withheld by IFLA_CARRIER although ports have a link.
    virtual bool sets_carrier() const { return false; }

    virtual LinkSight link_sight() const = 0;

    /// True if the kernel itself announces the team when a port starts to carry, as often as in the tables
    /// (notify_peers, mcast_rejoin).
    virtual bool announces_gains() const = 0;

    /// Creates and marks the team's device, down. On failure nothing remains; if this
    /// process is killed meanwhile, a device that is_half_made() may remain.
    virtual Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                             const MacAddress& address) = 0;
    /// The device of that name, if there is one. EEXIST: it is not our team. `take_over`: also accepts a
    /// device of the right kind that another program created.
    virtual Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                          bool take_over) const = 0;

    /// Starts to carry for the device with these tables, replacing an earlier daemon's datapath.
    virtual Result<> attach_team(const TeamDevice& device, const Tables& tables) = 0;
    /// True if a program that attach_port() puts on the port is not there, also none of an earlier daemon:
    /// the kernel removes them when a device moves to another namespace.
    virtual Result<bool> lacks_program(IfIndex port) const = 0;
    virtual Result<> attach_port(IfIndex port, Slot slot) = 0;
    /// `made_clsact`: we have made the port's clsact, which is removed if it is empty.
    virtual Result<> detach_port(IfIndex port, bool made_clsact) = 0;

    /// Applies the tables. Writes only differences; ports that no longer carry stop first.
    virtual Result<> apply(const Tables& tables) = 0;

    /// True if the ports' counters are those of our programs, which count a GSO packet once and what they
    /// drop apart; otherwise they are those of the devices.
    virtual bool counts_by_program() const { return false; }
    /// By slot. [0].rx_dropped and [0].tx_packets count packets without a port, if the datapath counts them.
    virtual Result<std::array<PortCounters, max_ports + 1>> read_counters() = 0;

    /// Transmitted by a bucket since this process started; counted only while several ports carry.
    /// EOPNOTSUPP: this kernel cannot count it.
    virtual Result<BucketCounters> read_bucket(std::uint8_t bucket) = 0;
    /// The same for all buckets.
    virtual Result<AllBucketCounters> read_buckets() = 0;
    /// True if the datapath itself moves the buckets in Tables::leaving when their traffic has a gap. If not,
    /// the caller must detect gaps by the counters.
    virtual bool moves_in_gaps() const = 0;
    /// True if the datapath has moved this bucket, which is in Tables::leaving.
    virtual bool has_moved(std::uint8_t bucket) const = 0;

    /// With HashField::source: the addresses that the team has sent from in the last five minutes, and that
    /// are not heard from elsewhere since.
    virtual Result<std::vector<LearnedAddress>> read_addresses() { return std::vector<LearnedAddress>(); }

    /// Brings the frames of these ports (by index, with their names) to the team that programs of others
    /// accept before ours sees them (DevicePrograms::shadowed()), by a table of nftables. Writes only
    /// differences.
    virtual Result<> catch_accepted(const std::map<IfIndex, std::string>& /*ports*/) { return {}; }
    /// True if they come.
    virtual bool catches_accepted(IfIndex /*port*/) const { return false; }

    /// Readable when another program changed what apply() set; none if there are no such events.
    virtual std::optional<int> event_fd() const { return std::nullopt; }
    virtual Result<> take_events() { return {}; }
};

/// Resolves `automatic`: the datapath of an existing team device, otherwise that driver of bonding and team
/// which the kernel has and which suits the configuration better, otherwise BPF (docs/adr/0040). Never
/// returns `automatic`.
Result<DatapathChoice> choose_datapath(DatapathChoice choice, LinkControl& links, const Link* existing,
                                       const TeamConfig& config);

class DevicePrograms;

struct OpenedDatapath {
    std::unique_ptr<Datapath> datapath;
    std::string
        refusal; ///< why it is not that of bonding, which `automatic` prefers; empty: nothing refused it
};

/// That of a team's device, by its kind; none: no team is such a device.
std::optional<DatapathChoice> datapath_of(const Link& device);

/// ENOTSUP: a running team with this datapath would get another one.
Result<> check_kept(std::string_view datapath, DatapathChoice next);

/// As Datapath::find_device() of that datapath, which is not `automatic`.
Result<std::optional<TeamDevice>> find_device(DatapathChoice choice, const Links& links,
                                              const TeamConfig& config, bool take_over);

/// The datapath for a configuration. `existing`: the device of the team's name, if there is one to adopt.
/// `hooks` must outlive it.
/// ENOTSUP: the configuration needs what the chosen datapath does not have.
Result<OpenedDatapath> open_datapath(DatapathChoice choice, LinkControl& links, const Link* existing,
                                     const TeamConfig& config, DevicePrograms& hooks);

} // namespace teamo
