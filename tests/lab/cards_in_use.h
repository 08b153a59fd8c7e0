// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Real cards before a team uses them: up, the affinity of one set by an administrator, a switch at the far
// ends.
#pragma once

#include "lab/far_switch.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace teamo::test {

/// The names eth0, eth1, …, from number `first`.
std::vector<std::string> cards(unsigned count, unsigned first = 0);

/// A roundrobin team of these cards.
std::string config_of(const std::vector<std::string>& cards, const std::string& more = "",
                      const std::string& device = "team0");

class CardsInUse : public testing::Test {
protected:
    void SetUp() override;

    std::vector<std::string> cards_; ///< all cards of the guest
    std::optional<FarSwitch> far_;
};

} // namespace teamo::test
