// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/server.h"
#include "bench/run/peer.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace teamo::bench {
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

TEST(BenchPeer, of_several_is_asked_too) {
    const auto server = Server::start({.allowed = {local}, .most = 2}).value();
    const auto other = *parse_ip("127.0.0.2"); // the same server, as a machine with two addresses
    EXPECT_TRUE(read_totals_of_all({local}, server->port(), never));
    EXPECT_EQ(read_totals_of_all({local, other}, server->port(), never).value(), Totals{});
    const SilentServer dead; // at 127.0.0.1 alone
    EXPECT_FALSE(read_totals_of_all({local, other}, dead.port, soon));
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

#ifndef TEAMO_SANITIZED // the address sanitizer needs address space for itself
/// Bounds the address space of this process; a thread takes megabytes of it for its stack.
class LittleSpace {
public:
    LittleSpace() {
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        ::getrlimit(RLIMIT_AS, &before_);
        rlimit little = before_;
        little.rlim_cur = pages * static_cast<std::size_t>(::getpagesize()) + (std::size_t{64} << 20);
        ::setrlimit(RLIMIT_AS, &little);
    }
    LittleSpace(const LittleSpace&) = delete;
    LittleSpace& operator=(const LittleSpace&) = delete;
    ~LittleSpace() { ::setrlimit(RLIMIT_AS, &before_); }

private:
    rlimit before_{};
};

TEST(BenchPeer, is_an_error_if_its_threads_cannot_start) {
    const LittleSpace space;
    const auto server = Server::start({.most = 10'000});
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().number, EAGAIN) << server.error().text;
}
#endif

} // namespace
} // namespace teamo::bench
