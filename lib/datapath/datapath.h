// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What carries the packets, as the daemon sees it. There are two: our BPF programs on a pair of devices, and
// the kernel's team driver. Both work by the same Tables, and go on without a daemon.
#pragma once

#include "base/result.h"
#include "kernel/netlink/links.h"
#include "model/balance.h"
#include "model/status.h"
#include "model/tables.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

struct TeamDevice {
    IfIndex team;
    IfIndex inner;    ///< the far end of the pair; none with the team driver
    std::string kind; ///< "veth", "netkit" or "team"
};

class Datapath {
public:
    virtual ~Datapath() = default;

    /// As state documents have it: "bpf" or "team".
    virtual std::string_view name() const = 0;
    /// Whether the kernel itself sees to the ports' MTU and address filters and to the team's carrier, and
    /// knows them by their master.
    virtual bool kernel_manages_ports() const = 0;

    /// Whether the kernel announces the team by itself when a port begins to carry, as often as the tables
    /// say (notify_peers, mcast_rejoin).
    virtual bool announces_gains() const = 0;

    /// Makes and marks the team's device, down. `name` may be "team%d". On failure nothing is left; after a
    /// kill there may be a device that is_half_made().
    virtual Result<TeamDevice> create_device(LinkControl& links, const std::string& name,
                                             const MacAddress& address) = 0;
    /// The device of that name; none where there is none. EEXIST: it is no team of ours. `take_over`: one
    /// that somebody else made will do, where it is of the kind.
    virtual Result<std::optional<TeamDevice>> find_device(const Links& links, const std::string& name,
                                                          bool take_over) const = 0;

    /// Begins to carry for the device by these tables, in place of whoever did before.
    virtual Result<> attach_team(const TeamDevice& device, const Tables& tables) = 0;
    /// Whether attach_port() will make something for the port (clsact) that detach_port() is to take away.
    virtual Result<bool> makes_something(IfIndex port) const = 0;
    /// Takes a port in.
    virtual Result<> attach_port(IfIndex port) = 0;
    virtual Result<> detach_port(IfIndex port, bool made) = 0;

    /// Puts the tables into effect: what differs from how it is, nothing else; what is lost stops first.
    virtual Result<> apply(const Tables& tables) = 0;

    /// By slot; [0].rx_dropped and .tx_packets count what had no port to go to, where that is known.
    virtual Result<std::array<PortCounters, max_ports + 1>> read_counters() = 0;

    /// What has left by a bucket since this process began; counted where there is a choice of ports.
    /// EOPNOTSUPP: this kernel does not let it be counted.
    virtual Result<BucketCounters> read_bucket(std::uint8_t bucket) = 0;
    /// Whether buckets that the tables have as leaving move by themselves when their traffic pauses; else who
    /// calls sees to it, by the counters.
    virtual bool moves_in_gaps() const = 0;
    /// Of the buckets that the tables have as leaving: whether that one has moved by itself.
    virtual bool has_moved(std::uint8_t bucket) const = 0;

    /// Readable when somebody else changed what apply() set; none where nobody tells.
    virtual std::optional<int> event_fd() const { return std::nullopt; }
    virtual Result<> take_events() { return {}; }
};

/// What `automatic` comes to: the datapath of the team's device where there is one, else the team driver
/// where the kernel has it, else BPF. Never `automatic`.
Result<DatapathChoice> choose_datapath(DatapathChoice choice, LinkControl& links, const Link* existing);

/// `fields`: what its tables will hash by.
Result<std::unique_ptr<Datapath>> open_datapath(DatapathChoice choice, LinkControl& links,
                                                const Link* existing, HashFields fields);

} // namespace teamo
