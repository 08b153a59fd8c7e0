// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/host_lookup.h"

#include <gtest/gtest.h>

#include <thread>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Asks until there is an answer; the time that the lookup sees goes on meanwhile.
template <class Done>
void ask(HostLookup& hosts, const std::string& host, bool ipv6, Done done) {
    for (int count = 0; count < 3000 && !done(); ++count) {
        hosts.find(host, ipv6, Clock::now());
        std::this_thread::sleep_for(10ms);
    }
}

TEST(HostLookup, knows_addresses_at_once) {
    HostLookup hosts;
    EXPECT_EQ(hosts.find("192.0.2.1", false, {}), parse_ip("192.0.2.1"));
    EXPECT_EQ(hosts.find("fd00::1", true, {}), parse_ip("fd00::1"));
    EXPECT_EQ(hosts.find("fd00::1", false, {}), std::nullopt);
    EXPECT_EQ(hosts.failure("fd00::1", false), "is no IPv4 address");
    EXPECT_EQ(hosts.failure("192.0.2.1", false), "");
}

TEST(HostLookup, finds_a_name_later) {
    HostLookup hosts;
    ask(hosts, "localhost", false, [&] { return hosts.find("localhost", false, Clock::now()).has_value(); });
    EXPECT_EQ(hosts.find("localhost", false, Clock::now()), parse_ip("127.0.0.1"));
    EXPECT_EQ(hosts.failure("localhost", false), "");
}

TEST(HostLookup, says_why_a_name_is_not_known) {
    HostLookup hosts;
    EXPECT_EQ(hosts.find("no such name", false, Clock::now()), std::nullopt);
    ask(hosts, "no such name", false, [&] { return !hosts.failure("no such name", false).empty(); });
    EXPECT_NE(hosts.failure("no such name", false), "");
}

TEST(HostLookup, may_end_before_an_answer) {
    HostLookup hosts;
    hosts.find("localhost", true, Clock::now());
}

} // namespace
} // namespace teamo
