// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Mixed traffic through a team with the guard: nothing that this host wants is dropped. GUARD_SECONDS says
// how long, for example 600.
#include "netns/configs.h"
#include "support/net/socket_address.h"
#include "support/traffic/traffic.h"

#include <gmock/gmock.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstdlib>

namespace teamo::test {
namespace {

constexpr const char *group = "239.1.2.3", *everybody = "10.0.0.255";

/// UDP packets to many at once, and how many of them have come.
class ToMany {
public:
    ToMany(const NetNs& from, const NetNs& to, const char* address, std::uint16_t port)
        : to_(address, port),
          sender_(socket_in(from, AF_INET, SOCK_DGRAM)),
          receiver_(socket_in(to, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK)) {
        const int yes = 1, room = 8 << 20;
        setsockopt(sender_.get(), SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
        setsockopt(receiver_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
        const SocketAddress any("0.0.0.0", port), out(client_v4, 0);
        if (bind(receiver_.get(), any.get(), any.size) < 0) throw SetupError("cannot bind");
        if (bind(sender_.get(), out.get(), out.size) < 0) throw SetupError("cannot bind");
    }
    /// Only for a group.
    void join() const {
        ip_mreq wish{};
        inet_pton(AF_INET, group, &wish.imr_multiaddr);
        inet_pton(AF_INET, team_v4, &wish.imr_interface);
        if (setsockopt(receiver_.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &wish, sizeof wish) < 0)
            throw SetupError("cannot join a group");
        in_addr out{};
        inet_pton(AF_INET, client_v4, &out);
        setsockopt(sender_.get(), IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof out);
    }
    void send(unsigned packets) {
        for (unsigned number = 0; number < packets; ++number)
            if (::sendto(sender_.get(), "x", 1, 0, to_.get(), to_.size) == 1) ++sent_;
    }
    testing::AssertionResult all_come() {
        return eventually("all packets come", [this] {
            char byte = 0;
            while (::recv(receiver_.get(), &byte, 1, 0) >= 0)
                ++received_;
            return received_ == sent_;
        });
    }
    std::uint64_t sent() const { return sent_; }

private:
    SocketAddress to_;
    UniqueFd sender_, receiver_;
    std::uint64_t sent_ = 0, received_ = 0;
};

TEST(GuardedTraffic, loses_nothing_that_is_wanted) {
    const char* wish = std::getenv("GUARD_SECONDS");
    const std::chrono::seconds time(wish == nullptr ? 3 : std::atoi(wish));
    const Cabling wires(2, FarSide::lag_switch);
    auto config = loadbalance(2);
    const TeamUnderTest team(config.insert(1, R"("guard": "full", )"));
    bring_up(wires, team);
    const auto& host = wires.host();
    const auto& client = wires.client();
    ToMany multicast(client, host, group, 6001), broadcast(client, host, everybody, 6002);
    multicast.join();
    Stream in({.from = &client, .to = &host, .address = team_v4, .rate = 2'000, .port = 5001});
    Stream in6({.from = &client, .to = &host, .address = team_v6, .rate = 2'000, .port = 5002});
    Stream out({.from = &host, .to = &client, .address = client_v4, .rate = 2'000, .port = 5003});
    unsigned rounds = 0;
    for (const auto start = SteadyClock::now(); SteadyClock::now() - start < time; ++rounds) {
        const auto added = fmt::format("10.0.0.{}", 100 + rounds % 50);
        host.ip(fmt::format("addr add {}/24 dev team0", added));
        EXPECT_EQ("", team.item("guard.aside")); // the daemon has read the address before it answers
        multicast.send(500);
        broadcast.send(5); // a few hundred a second: the limit is for storms
        for (const auto* address : {team_v4, team_v6, added.c_str()})
            EXPECT_TRUE(reaches(client, address)) << address;
        for (const auto* address : {client_v4, client_v6})
            EXPECT_TRUE(reaches(host, address)) << address;
        EXPECT_TRUE(carries_tcp(client, host, team_v4, 1'000'000));
        EXPECT_TRUE(carries_tcp(host, client, client_v6, 1'000'000));
        EXPECT_TRUE(multicast.all_come());
        EXPECT_TRUE(broadcast.all_come());
        host.ip(fmt::format("addr del {}/24 dev team0", added));
        client.ip(fmt::format("neigh del {} dev client0", added)); // asked for again in a later round
        if (testing::Test::HasFailure()) break;
    }
    for (auto* stream : {&in, &in6, &out}) {
        stream->stop();
        EXPECT_EQ(0U, stream->tally().lost) << text_of(stream->tally());
    }
    fmt::print("{} rounds; {} packets to a group, {} broadcasts, {} UDP packets; not dropped {}\n", rounds,
               multicast.sent(), broadcast.sent(), in.tally().sent + in6.tally().sent + out.tally().sent,
               team.item("guard.passed"));
    EXPECT_EQ("", team.item("guard.aside"));
    for (const auto* reason :
         {"arp_request", "neighbour_solicitation", "unicast", "broadcast", "multicast", "sender"})
        EXPECT_EQ("0", team.item(fmt::format("guard.dropped.{}", reason))) << reason;
}

} // namespace
} // namespace teamo::test
