// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support.h"
#include "json/write.h"

namespace teamo {
namespace {

std::string line_of(const json::Value& value) { return json::write(value, {.indent = 0}); }
std::string dump(std::string_view text, std::string_view device = {}) {
    return line_of(read_configuration(text, device).configuration.value().document);
}

TEST(ConfigDump, shows_defaults_like_teamd) {
    EXPECT_EQ(dump("{}"), R"({"runner": {"name": "roundrobin"}})");
    EXPECT_EQ(dump("{}", "team0"), R"({"device": "team0", "runner": {"name": "roundrobin"}})");
    EXPECT_EQ(dump(R"({"runner": {"name": "loadbalance"}})"),
              R"({"runner": {"name": "loadbalance", "tx_hash": ["eth", "ipv4", "ipv6"]}})");
    EXPECT_EQ(dump(R"({"runner": {"name": "lacp"}})"),
              R"({"runner": {"name": "lacp", "tx_hash": ["eth", "ipv4", "ipv6"]}})");
    EXPECT_EQ(dump(R"({"runner": {"name": "activebackup"}, "notify_peers": {"interval": 5}})"),
              R"({"mcast_rejoin": {"count": 1}, "notify_peers": {"count": 1, "interval": 5}, )"
              R"("runner": {"name": "activebackup"}})");
}

TEST(ConfigDump, keeps_written_values) {
    EXPECT_EQ(dump(R"({"runner": {"name": "lacp", "tx_hash": []}, "x": 1})"),
              R"({"runner": {"name": "lacp", "tx_hash": []}, "x": 1})");
    EXPECT_EQ(
        dump(R"({"runner": {"name": "activebackup"}, "notify_peers": {"count": "7"}, "mcast_rejoin": 1})"),
        R"({"mcast_rejoin": 1, "notify_peers": {"count": "7"}, "runner": {"name": "activebackup"}})");
}

TEST(ConfigDump, shows_implicit_link_watch) {
    EXPECT_EQ(
        dump(
            R"({"ports": {"eth1.100": {"prio": 1}, "eth2": {"link_watch": {"name": "ethtool", "delay_up": 1}}}})"),
        R"({"ports": {"eth1.100": {"link_watch": {"name": "ethtool"}, "prio": 1}, )"
        R"("eth2": {"link_watch": {"delay_up": 1, "name": "ethtool"}}}, "runner": {"name": "roundrobin"}})");
    EXPECT_EQ(
        dump(R"({"link_watch": {"name": "ethtool"}, "ports": {"eth1": {}}})"),
        R"({"link_watch": {"name": "ethtool"}, "ports": {"eth1": {}}, "runner": {"name": "roundrobin"}})");
    EXPECT_EQ(dump(R"({"ports": {"eth1": null}})"),
              R"({"ports": {"eth1": null}, "runner": {"name": "roundrobin"}})");
}

TEST(ConfigDump, replaces_whole_port_object) {
    const auto document =
        json::parse(R"({"ports": {"eth1": {"prio": 1, "sticky": true}, "eth2": {}}})").value();
    EXPECT_EQ(line_of(with_port_configuration(document, "eth1", json::Object{{"prio", 2}})),
              R"({"ports": {"eth1": {"prio": 2}, "eth2": {}}})");
    EXPECT_EQ(line_of(with_port_configuration(document, "eth1.100", json::Object{})),
              R"({"ports": {"eth1": {"prio": 1, "sticky": true}, "eth1.100": {}, "eth2": {}}})");
    EXPECT_EQ(line_of(with_port_configuration(json::Object{}, "eth1", json::Object{})),
              R"({"ports": {"eth1": {}}})");
}

TEST(ConfigDump, lists_existing_ports_only_if_actual) {
    const auto document = json::parse(R"({"ports": {"eth1": {"prio": 1}, "eth2": {}}})").value();
    EXPECT_EQ(line_of(actual_configuration(document, {"eth1", "eth3"})),
              R"({"ports": {"eth1": {"prio": 1}, "eth3": {}}})");
    EXPECT_EQ(line_of(actual_configuration(document, {})), R"({"ports": {}})");
    EXPECT_EQ(line_of(actual_configuration(json::Object{}, {})), "{}");
    EXPECT_EQ(line_of(actual_configuration(json::Object{}, {"eth1"})), R"({"ports": {"eth1": {}}})");
}

} // namespace
} // namespace teamo
