// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/load/server.h"
#include "ctl/bench/run/peer.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

namespace teamo::ctl::bench {
namespace {

using namespace std::chrono_literals;

const IpAddress local = *parse_ip("127.0.0.1");
constexpr std::chrono::milliseconds soon{100}, never = 1h;

/// Accepts connections by the kernel alone, and never answers.
struct SilentServer {
    UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::uint16_t port = 0;

    SilentServer() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* any = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(socket.get(), any, size), 0);
        EXPECT_EQ(::listen(socket.get(), 4), 0);
        EXPECT_EQ(::getsockname(socket.get(), any, &size), 0);
        port = ntohs(address.sin_port);
    }
};

TEST(BenchPeer, that_does_not_answer_is_an_error) {
    const SilentServer server;
    const auto totals = read_totals_of(local, server.port, soon);
    ASSERT_FALSE(totals);
    EXPECT_EQ(totals.error().number, ETIMEDOUT) << totals.error().text;
}

TEST(BenchPeer, that_does_not_serve_is_an_error_at_once) {
    std::uint16_t port = 0;
    {
        const SilentServer gone;
        port = gone.port;
    }
    const auto totals = read_totals_of(local, port, never);
    ASSERT_FALSE(totals);
    EXPECT_EQ(totals.error().number, ECONNREFUSED) << totals.error().text;
}

TEST(BenchPeer, tells_its_totals) {
    const auto server = Server::start({.most = 2}).value();
    EXPECT_TRUE(read_totals_of(local, server->port(), never));
}

TEST(BenchPeer, ends_a_connection_without_an_order) {
    const auto server = Server::start({.most = 1, .longest_order = soon}).value();
    const auto silent = Connection::to(local, server->port(), 0);
    ASSERT_TRUE(silent);
    const std::stop_source none;
    std::array<char, 1> byte{};
    EXPECT_EQ(silent->receive(byte, none.get_token()), 0U);
    EXPECT_TRUE(read_totals_of(local, server->port(), never)) << "its one thread is free again";
}

} // namespace
} // namespace teamo::ctl::bench
