// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The demo's network: a host with four cables of 1 Gbit/s, and at the far end eight clients with MAC
// addresses of their own.
#pragma once

#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/cabling.h"

#include <string>
#include <vector>

namespace teamo::demo {

inline constexpr unsigned cables = 4, client_count = 8;

/// Stops the far end's daemon (SIGSTOP) while this object lives.
class Held {
public:
    explicit Held(const test::Process& process);
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held();

private:
    const test::Process& process_;
};

class Stage {
public:
    /// Sets up the network and starts the host's daemon with `config`. Throws SetupError.
    explicit Stage(const std::string& config);

    const test::NetNs& host() const { return wires_.host(); }
    const test::NetNs& client(unsigned number) const { return clients_.at(number); }
    static std::string address_of(unsigned client);
    unsigned index_of(unsigned port) const;
    /// How often the team's daemon has gone to sleep so far.
    std::uint64_t daemon_sleeps() const;
    const test::TeamUnderTest& team() const { return team_; }

    /// Counters of each port (sent) and of all clients' devices together (arrived). A GSO packet counts once.
    std::vector<test::Counters> sent() const;
    test::Counters arrived() const;
    /// The port that sends most packets during this time.
    unsigned busiest_port(test::milliseconds over) const;
    void keep_tso(bool keep) const;
    void pull(unsigned cable) const { set_far_end(cable, /*up=*/false); }
    void plug(unsigned cable) const { set_far_end(cable, /*up=*/true); }
    /// Simulates a far end on another machine: its daemon must not take this kernel's network lock and CPUs
    /// when a cable is lost. Its datapath continues. On busy CPUs a pull lost 12 and 14 packets (medians)
    /// without this, 4 and 6 with it.
    Held hold_far_end() const { return Held(others_.front()); }
    /// Waits until the teams of both ends report this many ports up; throws SetupError otherwise.
    void await_carrying(unsigned ports) const;

private:
    void shape() const;
    void start_far_end();
    void add_client(unsigned number);
    unsigned carrying() const;
    void set_far_end(unsigned cable, bool up) const;

    test::Cabling wires_;
    UniqueFd far_switch_; ///< for the calls that set far ends up and down
    std::vector<test::NetNs> clients_;
    test::ConfigFile far_config_;
    test::TeamUnderTest team_;
    std::vector<test::Process> others_; ///< the far end's daemon first, then the clients' servers
};

} // namespace teamo::demo
