// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bonds as other programs make them, with devices on top, over veth to a namespace.
#pragma once

#include "support/daemon/team_under_test.h"
#include "support/net/links.h"
#include "support/traffic/traffic.h"

#include <gtest/gtest.h>

#include <string>

namespace teamo::test {

constexpr const char* near_address = "10.5.0.1";
constexpr const char* far_address = "10.5.0.2";
constexpr const char* near_in_vlan = "10.7.0.1"; ///< of BackedUp
constexpr const char* far_in_vlan = "10.7.0.2";

/// The configuration of a daemon that attaches to bond0.
inline const std::string attach = R"({"device": "bond0", "attach": true})";
/// Its xmit_hash_policy.
std::string policy_of(const std::string& bond);
inline std::string policy() { return policy_of("bond0"); }
/// Soon: by a policy and a program of the daemon.
testing::AssertionResult is_steered(const TeamUnderTest& team);

/// As of a kernel that does not tell the types of its bonding driver, so that no program can steer a bond.
class HiddenTypes {
public:
    HiddenTypes();
    HiddenTypes(const HiddenTypes&) = delete;
    HiddenTypes& operator=(const HiddenTypes&) = delete;
    ~HiddenTypes();
};

/// bond0 over p0 to p3, and the same at the far end, with a VLAN on both and a bridge on the near one.
class Bonded {
public:
    static constexpr unsigned slaves = 4;

    explicit Bonded(std::string mode, std::string policy = "layer2+3");
    Bonded(const Bonded&) = delete;
    Bonded& operator=(const Bonded&) = delete;
    ~Bonded();

    /// The near end, as a program makes it.
    void make() const;
    void remove() const;
    void await_path() const;

    const NetNs& here() const { return here_; }
    const NetNs& far() const { return far_; }
    /// The far ends whose partner LACP knows, and which collect and distribute: 0x3f.
    unsigned collecting() const;
    /// What the near end is like.
    static std::string settings();
    Stream::Way way(unsigned rate = 10'000) const {
        return {.from = &here_, .to = &far_, .address = far_address, .rate = rate};
    }
    /// The slave that sends most now.
    static std::string busiest();

private:
    void make_end(const NetNs& in, const char* port) const;

    std::string mode_, policy_;
    NetNs here_ = NetNs::current(), far_ = NetNs::create();
};

/// bond0 over p0 and p1 in active-backup, in a bridge and with a VLAN; their far ends in a bridge, as in a
/// switch.
class BackedUp {
public:
    /// `miimon` in milliseconds.
    explicit BackedUp(unsigned miimon, const std::string& options = "");
    BackedUp(const BackedUp&) = delete;
    BackedUp& operator=(const BackedUp&) = delete;
    ~BackedUp();

    const NetNs& here() const { return here_; }
    const NetNs& far() const { return far_; }
    Stream::Way out() const { return {.from = &here_, .to = &far_, .address = far_address, .rate = 5000}; }
    Stream::Way in() const {
        return {.from = &far_, .to = &here_, .address = near_address, .rate = 5000, .port = 5002};
    }
    std::string settings() const;
    /// `how`: "up" or "down", of the far end of that slave's cable.
    void plug(const std::string& port, const char* how) const;
    static std::string active();
    static std::string other(const std::string& port) { return port == "p0" ? "p1" : "p0"; }
    static std::uint64_t sent(const std::string& port) { return counters(NetNs::current(), port).tx_packets; }
    static std::uint64_t dropped(const std::string& port) {
        return counters(NetNs::current(), port).tx_dropped;
    }

private:
    NetNs here_ = NetNs::current(), far_ = NetNs::create();
};

} // namespace teamo::test
