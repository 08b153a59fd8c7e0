// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The devices, the daemon and the traffic of a soak, and how each fault is done to them.
#pragma once

#include "soak/bystander.h"
#include "soak/faults.h"
#include "support/daemon/lacp_partner.h"
#include "support/daemon/team_under_test.h"
#include "support/daemon/watched_calls.h"
#include "support/net/cabling.h"
#include "support/traffic/traffic.h"

#include <deque>
#include <memory>

namespace teamo::soak {

/// The settings of a device that a port must get back.
std::string settings(const test::NetNs& in, const std::string& device);

class World {
public:
    explicit World(Runner runner);

    /// Throws SetupError if the kernel refuses, or the daemon does not start or answer.
    void perform(const Action& action, const Model& before);
    /// Does what an administrator or systemd does: starts a killed daemon, gives a new team its address.
    void attend();
    /// A daemon whose system calls fail or kill it later than at its start ends here: the next one is not
    /// watched.
    void unwatch();
    /// New streams: the old ones keep a record of each packet.
    void renew_streams();

    Runner runner() const { return runner_; }
    /// The host behind the switch; with lacp the partner itself.
    const test::NetNs& client() const { return partner_ ? wires_.peer() : wires_.client(); }
    const char* client_device() const { return partner_ ? partner_name : "client0"; }
    const test::Cabling& wires() const { return wires_; }
    const test::NetNs& elsewhere() const { return elsewhere_; }
    test::TeamUnderTest& team() { return team_; }
    const test::Stream& out() const { return *out_; }
    const test::Stream& in() const { return *in_; }
    /// What this port was like before it was a port; "" if it is not known.
    const std::string& before(unsigned port) const { return before_[port - 1]; }
    std::size_t deaf_clients() const { return deaf_.size(); }
    Bystander& bystander() { return bystander_; }
    /// What is wrong with the team's device and its inner end; "" if nothing is. With a daemon that had time
    /// to switch IPv6 off again: `settled`.
    std::string wrong_devices(bool settled);
    /// Ends all other daemons: then no file may be left.
    void end_others();

private:
    void replace(const Action& action, bool untouched);
    void stop(unsigned amount);
    void start_watched(bool kills, unsigned step);
    /// Runs teamoctl until it succeeds or `is_done`: a watched daemon may end in the middle. Throws
    /// SetupError if the daemon is not watched, or it never succeeds.
    void insist(const std::vector<std::string>& words, const std::function<bool()>& is_done);
    void set_member(const std::string& port, bool wanted);
    void move_bucket(unsigned bucket, const std::string& port);
    /// kill -9, and what it leaves.
    void kill();
    void flood(unsigned port, unsigned frames) const;
    void overrun(unsigned events);
    void add_deaf_client(unsigned requests);

    static constexpr const char* partner_name = "team2"; // the bystander's is team1

    Runner runner_;
    test::Cabling wires_;
    test::NetNs elsewhere_ = test::NetNs::create();
    Bystander bystander_{wires_};
    std::optional<test::Partner> partner_; ///< with lacp
    std::array<std::string, ports> before_;
    std::unique_ptr<test::WatchedCalls> calls_; ///< of the daemon that runs; outlives it
    test::TeamUnderTest team_;
    std::string file_, known_address_;
    unsigned generation_ = 0;
    bool ipv6_switched_on_ = false; ///< since the inner end was last seen without it
    std::deque<test::ControlSocket> deaf_;
    std::optional<test::Stream> out_, in_;
};

} // namespace teamo::soak
