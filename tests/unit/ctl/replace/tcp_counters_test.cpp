// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/replace/tcp_counters.h"

#include <gtest/gtest.h>

namespace teamo::ctl {
namespace {

TEST(TcpCounters, are_below_their_names) {
    constexpr auto snmp = "Ip: Forwarding DefaultTTL\nIp: 1 64\n"
                          "Tcp: MaxConn InSegs OutSegs RetransSegs\nTcp: -1 4711 4700 3\n"
                          "Udp: InDatagrams\nUdp: 7\n";
    EXPECT_EQ(parse_tcp_counter(snmp, "OutSegs"), 4700U);
    EXPECT_EQ(parse_tcp_counter(snmp, "RetransSegs"), 3U);
    EXPECT_EQ(parse_tcp_counter(snmp, "InDatagrams"), 0U) << "of UDP";
    EXPECT_EQ(parse_tcp_counter(snmp, "MaxConn"), 0U) << "-1: no limit";
    EXPECT_EQ(parse_tcp_counter("Tcp: OutSegs\n", "OutSegs"), 0U);
    EXPECT_EQ(parse_tcp_counter("", "OutSegs"), 0U);
}

} // namespace
} // namespace teamo::ctl
