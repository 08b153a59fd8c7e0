// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The switch at the far ends of all cables. It sends packets into every cable continuously: on most machines
// an interrupt moves to its new CPU when it next occurs.
#pragma once

#include <string>
#include <thread>
#include <vector>

namespace teamo::test {

class TeamUnderTest;

class FarSwitch {
public:
    explicit FarSwitch(unsigned ports);
    FarSwitch(const FarSwitch&) = delete;
    FarSwitch& operator=(const FarSwitch&) = delete;
    ~FarSwitch();

    /// Brings the team's device up and sends frames by it until this object is destroyed.
    void flood(const TeamUnderTest& team, const std::string& device = "team0");

private:
    std::string pinging_; ///< pid of a process outside
    std::vector<std::jthread> flooding_;
};

} // namespace teamo::test
