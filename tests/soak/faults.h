// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The faults of a soak and what must be true after each: pure. A seed gives the same list every time.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace teamo::soak {

inline constexpr unsigned ports = 4;

enum class Fault {
    cable,        ///< pulls or plugs it
    flaps,        ///< the cable's link goes and comes back, many times
    kill,         ///< kill -9, and a start
    stop,         ///< SIGTERM, and a start that makes a new team; every second one is killed in it
    freeze,       ///< SIGSTOP; the next thaw continues the daemon
    thaw,         ///< SIGCONT
    move,         ///< the port goes to another namespace, or comes back
    replace,      ///< the port is deleted and made again
    rename,       ///< another name, and back
    member,       ///< port remove, or port add
    reload,       ///< the next configuration
    flood,        ///< broadcast frames from the far side
    overrun,      ///< more events than the daemon's socket holds, while it is frozen
    refused_call, ///< a start with one system call that fails
    killed_call,  ///< a start that is killed before one of its system calls
    feature,      ///< another program switches TSO off
    mtu,          ///< the administrator changes the team's MTU
    address,      ///< the administrator changes the team's address
    down_up,      ///< the administrator sets the team down and up
    deaf_client,  ///< a client that asks and does not read
    bucket,       ///< the administrator moves a bucket to another port
    filters,      ///< another program deletes all filters of a port, or clsact
    in_front,     ///< a filter of another comes before ours for a moment, and accepts frames
    sysctl,       ///< another program switches IPv6 on, for all devices or for a port
    count
};

struct Action {
    Fault fault = Fault::cable;
    unsigned port = 1;   ///< 1 to ports
    unsigned amount = 0; ///< what it means depends on the fault
    bool last = true;    ///< the state must settle and everything is checked before the next action
};
std::string text_of(const Action& action);

/// What the world is like after some actions.
struct Port {
    bool plugged = true; ///< its far end is up
    bool here = true;    ///< its device is in the daemon's namespace
    bool wanted = true;  ///< not removed by hand
    friend bool operator==(const Port&, const Port&) = default;
};
struct Model {
    std::array<Port, ports> port{};
    bool frozen = false;
    unsigned configuration = 0;
    unsigned mtu = 1500;

    const Port& at(unsigned number) const { return port[number - 1]; }
    Port& at(unsigned number) { return port[number - 1]; }
    bool is_member(unsigned number) const { return at(number).here && at(number).wanted; }
    bool carries(unsigned number) const { return is_member(number) && at(number).plugged; }
};
Model after(Model model, const Action& action);

/// The endless list of a seed. Depends on nothing else.
class Script {
public:
    explicit Script(std::uint64_t seed) : random_(seed) {}
    Action next();

private:
    unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

    std::mt19937_64 random_; ///< the standard defines its numbers
    Model model_;
    unsigned count_ = 0, burst_ = 0, next_rare_ = 0;
};

/// The seed decides it. With lacp the far ends are ports of a team of their own.
enum class Runner { loadbalance, activebackup, lacp };
constexpr Runner runner_of(std::uint64_t seed) { return static_cast<Runner>(seed % 3); }

/// The configurations that reloads go through.
std::string configuration(Runner runner, unsigned number);
inline constexpr unsigned configurations = 3;
/// Whether this configuration has the guard.
constexpr bool is_guarded(unsigned number) { return number != 0; }
/// Whether it balances, with a runner that can.
constexpr bool is_balanced(unsigned number) { return number == 2; }

} // namespace teamo::soak
