// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the demo plays on: a host with four cables of 1 Gbit/s, and at their far end eight clients with MAC
// addresses of their own.
#pragma once

#include "support/daemon/process.h"
#include "support/daemon/team_under_test.h"
#include "support/net/cabling.h"

#include <string>
#include <vector>

namespace teamo::demo {

inline constexpr unsigned cables = 4, client_count = 8;

/// As long as this lives the far end's daemon stands still.
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
    /// Makes it and starts the daemon on `config`, the host's own; throws SetupError where anything fails.
    explicit Stage(const std::string& config);

    const test::NetNs& host() const { return wires_.host(); }
    const test::NetNs& client(unsigned number) const { return clients_.at(number); }
    static std::string address_of(unsigned client);
    unsigned index_of(unsigned port) const;
    /// How often the team's daemon has gone to sleep so far.
    std::uint64_t daemon_sleeps() const;
    const test::TeamUnderTest& team() const { return team_; }

    /// What each port sent, and what all clients' devices received, as devices count: a GSO packet once.
    std::vector<test::Counters> sent() const;
    test::Counters arrived() const;
    /// The port that most packets leave by, over so many milliseconds.
    unsigned busiest_port(test::milliseconds over) const;
    void keep_tso(bool keep) const;
    void pull(unsigned cable) const { set_far_end(cable, /*up=*/false); }
    void plug(unsigned cable) const { set_far_end(cable, /*up=*/true); }
    /// The far end is another machine: what its daemon does when a cable is lost takes neither this kernel's
    /// network lock nor this machine's CPUs. Its datapath goes on. On busy CPUs a pull lost 12 and 14 packets
    /// (medians) without this, 4 and 6 with it.
    Held hold_far_end() const { return Held(others_.front()); }
    /// Waits until both ends' teams say that so many of their ports are up; throws SetupError where they do
    /// not.
    void await_carrying(unsigned ports) const;

private:
    void shape() const;
    void start_far_end();
    void add_client(unsigned number);
    unsigned carrying() const;
    void set_far_end(unsigned cable, bool up) const;

    test::Cabling wires_;
    UniqueFd far_switch_; ///< takes the calls that bring far ends up and down
    std::vector<test::NetNs> clients_;
    test::ConfigFile far_config_;
    test::TeamUnderTest team_;
    std::vector<test::Process> others_; ///< the far end's daemon first, then the clients' servers
};

} // namespace teamo::demo
