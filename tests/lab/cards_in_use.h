// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Real cards before a team takes them: up, one of them placed by an administrator, a switch at their far
// ends.
#pragma once

#include "lab/far_switch.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace teamo::test {

/// eth0 and so on, from `first`.
std::vector<std::string> cards(unsigned count, unsigned first = 0);

/// A team of them that sends by each in turn.
std::string config_of(const std::vector<std::string>& cards, const std::string& more = "",
                      const std::string& device = "team0");

class CardsInUse : public testing::Test {
protected:
    void SetUp() override;

    std::vector<std::string> cards_; ///< all that the guest has
    std::optional<FarSwitch> far_;
};

} // namespace teamo::test
