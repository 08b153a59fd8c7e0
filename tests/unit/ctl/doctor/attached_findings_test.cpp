// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"
#include "json/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

using testing::HasSubstr;

Readings attached_bond() {
    auto readings = good_readings(2);
    readings.state.attached = AttachedStatus{.mode = "802.3ad"};
    return readings;
}

TEST(AttachedFindings, show_the_log_of_the_bond) {
    auto readings = attached_bond();
    for (const auto why : {Unsteered::programs, Unsteered::refused}) {
        readings.state.attached->unsteered = why;
        EXPECT_THAT(text_of("team0", all_findings(readings)), HasSubstr("journalctl TEAM=team0\n"))
            << name_of(why);
    }
}

/// The daemon refuses "port add".
TEST(AttachedFindings, add_a_missing_slave_as_bonding_wants_it) {
    auto readings = attached_bond();
    readings.configuration = *json::parse(R"({"ports": {"eth1": {}, "eth2": {}, "eth9": {}}})");
    readings.actual = *json::parse(R"({"ports": {"eth1": {}, "eth2": {}}})");
    EXPECT_THAT(text_of("team0", all_findings(readings)),
                HasSubstr("(to add it: ip link set eth9 down; ip link set eth9 master team0)"));
    readings.state.attached.reset();
    EXPECT_THAT(text_of("team0", all_findings(readings)),
                HasSubstr("(to add it: teamoctl team0 port add eth9)"));
}

} // namespace
} // namespace teamo::ctl
