// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <functional>
#include <thread>

namespace teamo::control {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class RunDirectory {
public:
    RunDirectory() {
        std::string pattern = testing::TempDir() + "teamo-control-XXXXXX";
        EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
        path_ = pattern;
    }
    ~RunDirectory() { std::filesystem::remove_all(path_); }
    RunDirectory(const RunDirectory&) = delete;
    RunDirectory& operator=(const RunDirectory&) = delete;

    const std::string& path() const { return path_; }

    /// A bound socket of the team that listens or, as after a crash, does not.
    UniqueFd socket_of(std::string_view team, bool listening) const {
        UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const auto path = fmt::format("{}/{}.sock", path_, team);
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_TRUE(!listening || ::listen(socket.get(), 10) == 0);
        return socket;
    }

private:
    std::string path_;
};

/// Accepts one connection and answers each message with `answer`. An empty answer is not sent.
class Server {
public:
    using Answer = std::function<std::string(const std::string&)>;

    Server(const RunDirectory& directory, Answer answer)
        : listener_(directory.socket_of("team0", true)),
          answer_(std::move(answer)),
          thread_([this] { serve(); }) {}
    ~Server() {
        ::shutdown(listener_.get(), SHUT_RDWR); // ends a waiting accept()
        thread_.join();
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

private:
    void serve() {
        UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!connection) return;
        const int room = 8 << 20;
        if (::setsockopt(connection.get(), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) < 0)
            ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        std::string message(2 << 20, '\0');
        for (ssize_t size = 0; (size = ::recv(connection.get(), message.data(), message.size(), 0)) > 0;) {
            const auto answer = answer_(message.substr(0, static_cast<std::size_t>(size)));
            if (answer == "hang up") return;
            if (!answer.empty()) ::send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        }
    }

    UniqueFd listener_;
    Answer answer_;
    std::thread thread_; // last: it uses the others
};

Client connected_to(const RunDirectory& directory) {
    auto client = Client::connect("team0", directory.path());
    EXPECT_TRUE(client.has_value());
    return std::move(*client);
}

TEST(ControlClient, returns_replies_in_order_of_requests) {
    const RunDirectory directory;
    std::vector<std::string> seen;
    {
        const Server server(directory, [&](const std::string& message) {
            seen.push_back(message);
            return message.find("PortAdd") == std::string::npos
                       ? encode(Reply{"{}"})
                       : encode(Reply{Refusal{"NoSuchDev", "No such device."}});
        });
        auto client = connected_to(directory);
        EXPECT_EQ(client.call(StateDump{}).value(), Reply{"{}"});
        EXPECT_EQ(client.call(PortAdd{"eth9"}).value(), (Reply{Refusal{"NoSuchDev", "No such device."}}));
        EXPECT_EQ(client.call(ConfigDump{}).value(), Reply{"{}"});
    }
    EXPECT_THAT(seen, testing::ElementsAre("REQUEST\nStateDump\n", "REQUEST\nPortAdd\neth9\n",
                                           "REQUEST\nConfigDump\n"));
}

TEST(ControlClient, says_what_to_do_with_a_daemon_that_does_not_know_the_method) {
    const RunDirectory directory;
    const Server server(directory, [](const std::string&) {
        return encode(std::get<Refusal>(parse_request("REQUEST\nMakeCoffee\n")));
    });
    const auto refused = connected_to(directory).text(StateDump{});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text,
              "No such method (UnknownMethod): the daemon is of another version; restart "
              "it to run the installed one");
}

// teamd cannot send more than 212,960 bytes; a state of 1,024 LACP ports has 1.63 MB.
TEST(ControlClient, receives_reply_of_megabytes) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may set a send buffer of that size";
    const RunDirectory directory;
    std::string large(1'630'000, 'x');
    for (std::size_t at = 0; at < large.size(); at += 997)
        large[at] = static_cast<char>('a' + at % 26);
    const Server server(directory, [&](const std::string&) { return encode(Reply{large}); });
    auto client = connected_to(directory);
    const auto reply = client.call(StateDump{});
    ASSERT_TRUE(reply.has_value());
    EXPECT_TRUE(*reply == Reply{large});
}

TEST(ControlClient, sends_request_above_default_buffer_size) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may set a send buffer of that size";
    const RunDirectory directory;
    const Server server(
        directory, [](const std::string& message) { return encode(Reply{std::to_string(message.size())}); });
    auto client = connected_to(directory);
    const Request update = PortConfigUpdate{"eth1", std::string(900'000, ' ')};
    EXPECT_EQ(client.call(update).value(), Reply{std::to_string(encode(update).size())});
}

TEST(ControlClient, times_out_without_reply) {
    const RunDirectory directory;
    const Server server(directory, [](const std::string&) { return ""; });
    auto client = connected_to(directory);
    const auto reply = client.call(StateDump{}, 50ms);
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().number, ETIMEDOUT);
}

TEST(ControlClient, refuses_calls_after_timeout) {
    const RunDirectory directory;
    const Server server(directory, [](const std::string&) { return ""; });
    auto client = connected_to(directory);
    EXPECT_EQ(client.call(StateDump{}, 10ms).error().number, ETIMEDOUT);
    EXPECT_EQ(client.call(ConfigDump{}, 10ms).error().number, ENOTCONN);
}

TEST(ControlClient, reports_connection_closed_by_daemon) {
    const RunDirectory directory;
    const Server server(directory, [](const std::string&) { return "hang up"; });
    auto client = connected_to(directory);
    const auto reply = client.call(StateDump{});
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().number, ECONNRESET);
    EXPECT_EQ(client.call(StateDump{}).error().number, ENOTCONN);
}

TEST(ControlClient, rejects_invalid_reply) {
    const RunDirectory directory;
    const Server server(directory, [](const std::string&) { return "HTTP/1.1 400 Bad Request\n"; });
    auto client = connected_to(directory);
    EXPECT_EQ(client.call(StateDump{}).error().number, EPROTO);
}

TEST(ControlClient, reports_missing_daemon) {
    const RunDirectory directory;
    const auto absent = Client::connect("team0", directory.path());
    ASSERT_FALSE(absent.has_value());
    EXPECT_EQ(absent.error().number, ENOENT);
    EXPECT_THAT(absent.error().text, HasSubstr(directory.path() + "/team0.sock"));

    const auto left_over = directory.socket_of("team0", false);
    const auto dead = Client::connect("team0", directory.path());
    ASSERT_FALSE(dead.has_value());
    EXPECT_EQ(dead.error().number, ECONNREFUSED);
}

TEST(ControlClient, rejects_overlong_socket_path) {
    EXPECT_EQ(Client::connect("team0", "/run/" + std::string(200, 'x')).error().number, ENAMETOOLONG);
}

} // namespace
} // namespace teamo::control
