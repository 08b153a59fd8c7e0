// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/subsystem_documents.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace teamo::control {
namespace {

TEST(StateDocument, shows_wanted_and_lacking_offloads) {
    const OffloadStatus status{.lacking = Lacking::demote,
                               .repair = false,
                               .team = {.name = "team0",
                                        .active = {"tx-tcp-segmentation"},
                                        .changeable = {"tx-tcp-segmentation"},
                                        .planned_on = {"tx-tcp-segmentation"},
                                        .gso_max = {65536, 65535, 65536}},
                               .ports = {{.name = "eth1",
                                          .active = {"rx-gro"},
                                          .changeable = {"rx-gro"},
                                          .planned_on = {"rx-gro"},
                                          .planned_off = {"rx-lro"},
                                          .required = {"tx-tcp-segmentation"},
                                          .lacking = {"tx-tcp-segmentation"},
                                          .repaired = 3,
                                          .gave_up = true,
                                          .last = true,
                                          .gso_max = {16384, 64, 16384}}}};
    const auto expected = json::parse(R"({
        "lacking": "demote",
        "ports": {"eth1": {"active": ["rx-gro"], "changeable": ["rx-gro"], "gave_up": true,
                           "gso_max": {"bytes": 16384, "ipv4_bytes": 16384, "segments": 64},
                           "lacking": ["tx-tcp-segmentation"], "last": true, "off": ["rx-lro"],
                           "on": ["rx-gro"], "repaired": 3, "required": ["tx-tcp-segmentation"]}},
        "repair": false,
        "team": {"active": ["tx-tcp-segmentation"], "changeable": ["tx-tcp-segmentation"], "gave_up": false,
                 "gso_max": {"bytes": 65536, "ipv4_bytes": 65536, "segments": 65535},
                 "lacking": [], "last": false, "off": [], "on": ["tx-tcp-segmentation"], "repaired": 0,
                 "required": []}})");
    ASSERT_TRUE(expected);
    EXPECT_EQ(json::write(offload_document(status)), json::write(*expected));
}

} // namespace
} // namespace teamo::control
