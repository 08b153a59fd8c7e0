// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the demo plays on: a host with four cables of 1 Gbit/s, and at their far end eight clients with MAC
// addresses of their own.
#pragma once

#include "support/cabling.h"
#include "support/process.h"
#include "support/team_under_test.h"

#include <string>
#include <vector>

namespace teamo::demo {

inline constexpr unsigned cables = 4, client_count = 8;

class Stage {
public:
    /// Makes it and starts the daemon on `config`, the host's own; throws SetupError where anything fails.
    explicit Stage(const std::string& config);

    const test::NetNs& host() const { return wires_.host(); }
    const test::NetNs& client(unsigned number) const { return clients_.at(number); }
    static std::string address_of(unsigned client);
    const test::Cabling& wires() const { return wires_; }
    const test::TeamUnderTest& team() const { return team_; }

    /// What all ports sent, and what all clients' devices received, as devices count: a GSO packet once.
    test::Counters sent() const;
    test::Counters arrived() const;
    /// The port that most packets leave by, over so many milliseconds.
    unsigned busiest_port(test::milliseconds over) const;
    void keep_tso(bool keep) const;
    /// Waits until both ends' teams say that so many of their ports are up; throws SetupError where they do
    /// not.
    void await_carrying(unsigned ports) const;

private:
    void shape() const;
    void start_far_end();
    void add_client(unsigned number);
    unsigned carrying() const;

    test::Cabling wires_;
    std::vector<test::NetNs> clients_;
    test::ConfigFile far_config_;
    test::TeamUnderTest team_;
    std::vector<test::Process> others_; ///< the far end's daemon, the clients' servers
};

} // namespace teamo::demo
