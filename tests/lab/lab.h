// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The lab for tests in its guest: the cables, and the peers at their far ends outside the guest.
#pragma once

#include "support/daemon/process.h"

#include <string>

namespace teamo::test {

class Lab {
public:
    /// Whether this process runs in a guest of the lab.
    static bool present();
    /// Whether to run longer and print figures (TEAMO_LONG=1).
    static bool at_length();
    /// The number of ports: eth0, eth1, …; their far ends are tap0, tap1, ….
    static unsigned ports();

    /// Runs a shell command outside, in the checkout and in the network namespace of the taps. Its background
    /// processes run until the guest ends. Throws SetupError if the server does not answer.
    static Output peer(const std::string& command);
    /// Runs a command outside that must succeed; throws SetupError with its output otherwise.
    static std::string must_peer(const std::string& command);

    /// Pulls the cable of ethN or plugs it in; returns when that is done.
    static void pull(unsigned number);
    static void plug(unsigned number);
};

} // namespace teamo::test
