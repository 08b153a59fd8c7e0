// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/ctl/support.h"
#include "json/parse.h"

#include <gmock/gmock.h>

namespace teamo::ctl {
namespace {

using testing::HasSubstr;

TEST(VersionFindings, name_a_daemon_of_another_version_and_what_restarts_it) {
    auto readings = good_readings();
    readings.installed = "1.10.0";
    EXPECT_EQ(text_of("team0", all_findings(readings)),
              "warning: team0: the daemon runs version 1.2.3, installed is 1.10.0\n"
              "    /usr/share/teamd-offload/restart-teams 'teamd-offload@team0.service'  (the team carries "
              "meanwhile; if the installed version refuses the configuration, this says so and changes "
              "nothing)\n");
    readings.state.version.clear();
    EXPECT_THAT(
        text_of("team0", all_findings(readings)),
        HasSubstr("warning: team0: the daemon runs an older version, installed is 1.10.0\n    /usr/share"));
    readings.process = 4711;
    for (const auto* unit :
         {"", "NetworkManager.service", "session-2.scope", "teamd-offload-replaced-team0-1.service"}) {
        readings.unit = unit;
        EXPECT_THAT(text_of("team0", all_findings(readings)),
                    HasSubstr("    kill -9 4711, then start the daemon again as it was started before"))
            << unit;
    }
    readings.process = 0;
    EXPECT_THAT(text_of("team0", all_findings(readings)),
                HasSubstr("    restart the daemon where it was started"));
}

} // namespace
} // namespace teamo::ctl
