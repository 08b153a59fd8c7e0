// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Two hosts and the cables between them, for cases that differ only in traffic.
#pragma once

#include "bench/load/server.h"
#include "bench/run/traffic.h"
#include "bench/stage/daemon.h"
#include "bench/stage/end.h"
#include "bench/stage/placement.h"

#include <memory>

namespace teamo::bench {

/// The members of a case that make another stage; the others have their defaults.
Case stage_of(Case what);

struct StageSetup {
    Case what{};
    double link_mbits = 1000; ///< of each cable, each way; 0: not limited
    CpuList cpus{};           ///< of the machine
};

inline constexpr std::uint16_t load_port = 5201;

class Stage {
public:
    /// ENOTSUP: this kernel or machine cannot do the case.
    static Result<std::unique_ptr<Stage>> build(const StageSetup& setup);

    const Case& what() const { return what_; }
    const std::string& congestion_control() const { return host_.congestion_control(); }
    /// For measure_round(); valid until rest().
    Ends ends();
    /// Until wake() the stage takes no CPU time and has no threads: its servers end, its daemons stop. All it
    /// has in the kernel stays.
    void rest();
    /// Returns when the daemons run, their ports carry and the servers listen.
    Result<> wake();

private:
    Stage(End host, End far, const StageSetup& setup, Placement placement)
        : what_(setup.what),
          link_mbits_(setup.link_mbits),
          placement_(std::move(placement)),
          host_(std::move(host)),
          far_(std::move(far)) {}
    /// The counters of the host's ports by name.
    Result<std::map<std::string, PortTraffic>> read_ports();
    Result<> lay_cable(unsigned number);
    Result<> shape(const End& end, const std::string& device) const;
    Result<> aggregate();
    Result<> start_team(End& end, const std::string& team, const std::vector<std::string>& ports,
                        const EndCpus& cpus, bool measured);
    bool host_has_daemon() const;
    bool far_has_daemon() const;
    /// Until the daemons answer and use all ports.
    Result<> await_teams() const;
    Result<> make_bond();
    Result<> give_addresses();
    Result<> spread_softirqs();
    Result<> start_servers();

    Case what_;
    double link_mbits_;
    Placement placement_;
    End host_, far_;
    std::vector<std::string> near_ports_{}, far_ports_{};
    std::string host_device_{}, far_device_{}; ///< with the addresses; empty: the ports have them
    std::vector<IpAddress> host_addresses_{}, far_addresses_{};
    std::vector<Daemon> daemons_{};
    std::unique_ptr<Server> host_server_{}, far_server_{};
};

} // namespace teamo::bench
