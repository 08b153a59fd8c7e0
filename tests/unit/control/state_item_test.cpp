// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/state_document.h"
#include "json/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace teamo::control {
namespace {

using testing::ElementsAre;
using testing::Optional;

json::Value document() {
    auto parsed = json::parse(R"({
        "ports": {
            "eth10": {"link": {"up": false, "speed": 10000}},
            "eth1": {"link": {"up": true, "speed": -1}},
            "eth1.100": {"link": {"up": false}, "ifinfo": {"dev_addr": "52:54:00:aa:bb:cc"}},
            "a\"b": {"link": {"up": true}}
        },
        "runner": {"active_port": ""},
        "setup": {"pid": 1234, "null": null, "list": [1], "rx_bytes": 9223372036854775807}
    })");
    EXPECT_TRUE(parsed.has_value());
    return parsed ? *parsed : json::Value();
}

TEST(StateItemPath, splits_at_dots) {
    EXPECT_THAT(split_item_path("setup"), Optional(ElementsAre("setup")));
    EXPECT_THAT(split_item_path("ports.eth1.link.up"), Optional(ElementsAre("ports", "eth1", "link", "up")));
}

TEST(StateItemPath, accepts_quoted_names_with_dots) {
    EXPECT_THAT(split_item_path(R"(ports."eth1.100".link.up)"),
                Optional(ElementsAre("ports", "eth1.100", "link", "up")));
    EXPECT_THAT(split_item_path(R"("a.b")"), Optional(ElementsAre("a.b")));
    EXPECT_THAT(split_item_path(R"(ports."eth1"."x.y")"), Optional(ElementsAre("ports", "eth1", "x.y")));
    EXPECT_THAT(split_item_path(R"(ports."a"b".link)"), Optional(ElementsAre("ports", "a\"b", "link")));
    EXPECT_THAT(split_item_path(R"(ports.a"b.link)"), Optional(ElementsAre("ports", "a\"b", "link")));
}

TEST(StateItemPath, rejects_empty_name_and_open_quote) {
    for (const auto* path : {"", ".", "setup.", ".setup", "setup..pid", "\"", "\"\"", "ports.\"eth1",
                             "ports.\"\".up", "ports.\"eth1\"x.up", "ports.\"eth1\"."})
        EXPECT_EQ(split_item_path(path), std::nullopt) << path;
}

TEST(StateItem, returns_leaf_as_text) {
    const auto state = document();
    EXPECT_EQ(state_item(state, "setup.pid"), "1234");
    EXPECT_EQ(state_item(state, "setup.rx_bytes"), "9223372036854775807");
    EXPECT_EQ(state_item(state, "runner.active_port"), "");
    EXPECT_EQ(state_item(state, "ports.eth1.link.up"), "true");
    EXPECT_EQ(state_item(state, "ports.eth1.link.speed"), "-1");
}

// teamd compares only the start of the name, so it may return eth10 for eth1 and eth1 for eth10.
TEST(StateItem, matches_port_name_exactly) {
    const auto state = document();
    EXPECT_EQ(state_item(state, "ports.eth1.link.up"), "true");
    EXPECT_EQ(state_item(state, "ports.eth10.link.up"), "false");
    EXPECT_EQ(state_item(state, R"(ports."eth1".link.up)"), "true");
    EXPECT_EQ(state_item(state, R"(ports."eth1.100".link.up)"), "false");
    EXPECT_EQ(state_item(state, R"(ports."eth1.100".ifinfo.dev_addr)"), "52:54:00:aa:bb:cc");
    for (const auto* path :
         {"ports.eth.link.up", "ports.e.link.up", "ports.eth100.link.up", "ports.ETH1.link.up"})
        EXPECT_EQ(state_item(state, path), std::nullopt) << path;
}

TEST(StateItem, has_no_value_outside_leaves) {
    const auto state = document();
    for (const auto* path : {"setup", "ports.eth1", "setup.pid.x", "setup.PID", "setup.null", "setup.list",
                             "setup.list.0", "nothing", "", "setup.pid."})
        EXPECT_EQ(state_item(state, path), std::nullopt) << path;
}

} // namespace
} // namespace teamo::control
