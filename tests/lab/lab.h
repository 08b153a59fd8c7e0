// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The lab as a test in its guest sees it: the cables, and the peers at their far ends, who are outside.
#pragma once

#include "support/daemon/process.h"

#include <string>

namespace teamo::test {

class Lab {
public:
    /// Whether this process runs in a guest of the lab.
    static bool present();
    /// Somebody wants figures, and times as long as they were once promised (TEAMO_LONG=1).
    static bool at_length();
    /// Ports that the guest has: eth0 and up; their far ends are tap0 and up.
    static unsigned ports();

    /// Runs a line of shell outside, in the checkout and in the network namespace of the taps. What it leaves
    /// in the background goes on until the guest ends. Throws SetupError where nobody answers.
    static Output peer(const std::string& command);
    /// The same where failure is not what is tested: throws SetupError with what the command said.
    static std::string must_peer(const std::string& command);

    /// Pulls the cable of ethN, or plugs it in again; done when this returns.
    static void pull(unsigned number);
    static void plug(unsigned number);
};

} // namespace teamo::test
