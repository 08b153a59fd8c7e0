// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What stands at the far ends of all cables: a switch that sends something into every one again and again,
// since on most machines an interrupt comes to its new CPU when it next comes.
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

    /// From now on frames leave by the team too, until this ends; the team's device is put up.
    void flood(const TeamUnderTest& team, const std::string& device = "team0");

private:
    std::string pinging_; ///< a process outside
    std::vector<std::jthread> flooding_;
};

} // namespace teamo::test
