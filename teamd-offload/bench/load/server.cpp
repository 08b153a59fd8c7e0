// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/server.h"

#include "bench/load/order.h"
#include "bench/load/transfer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <exception>

namespace teamo::bench {
namespace {

/// Both address families, or IPv4 alone on a kernel without IPv6.
Result<UniqueFd> listen_on(std::uint16_t port) {
    constexpr int yes = 1, no = 0;
    UniqueFd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(port);
    sockaddr_in any4{};
    any4.sin_family = AF_INET;
    any4.sin_port = htons(port);
    const auto* address = reinterpret_cast<const sockaddr*>(&any);
    socklen_t length = sizeof any;
    if (!socket) {
        socket.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        address = reinterpret_cast<const sockaddr*>(&any4);
        length = sizeof any4;
    } else {
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    }
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!socket || ::bind(socket.get(), address, length) < 0 || ::listen(socket.get(), SOMAXCONN) < 0)
        return fail_errno(errno, fmt::format("cannot listen on TCP port {}", port));
    return socket;
}

/// The order in the first line. What follows the line would be lost, so a client waits for our answer.
std::optional<Order> read_order(const Connection& client, Clock::time_point until,
                                const std::stop_token& stop) {
    std::string line;
    std::array<char, longest_order> bytes{};
    while (line.size() < longest_order) {
        const auto got = client.receive(std::span(bytes).first(longest_order - line.size()), stop, until);
        if (got == 0) return std::nullopt;
        line.append(bytes.data(), got);
        if (const auto end = line.find_first_of("\r\n"); end != std::string::npos)
            return parse_order(std::string_view(line).substr(0, end));
    }
    return std::nullopt;
}

/// The work of a connection.
struct Service {
    const Connection& client;
    const std::stop_token& stop;
    Tally& tally;

    void echo() const {
        std::array<char, 1> byte{};
        while (client.receive_all(byte, stop) && client.send({byte.data(), 1}, stop))
            ++tally.operations;
    }

    void file(std::uint32_t bytes) const {
        const auto content = memory_file(bytes);
        std::array<char, 1> byte{};
        while (content && client.receive_all(byte, stop) &&
               client.send_file(content.get(), bytes, stop, tally.sent))
            ++tally.operations;
    }

    void store(std::uint32_t bytes) const {
        while (receive_bytes(client, bytes, stop, tally)) {
            ++tally.operations;
            if (bytes == 0 || !client.send("x", stop)) return;
        }
    }

    void http() const {
        static const std::string page = fmt::format("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{}",
                                                    page_size, std::string(page_size, 'x'));
        if (!client.send(page, stop)) return;
        tally.sent += page_size;
        ++tally.operations;
    }
};

} // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerSetup& setup) {
    auto listening = TEAMO_TRY(listen_on(setup.port));
    std::unique_ptr<Server> server(new Server(std::move(listening), setup));
    for (unsigned number = 0; number < setup.most; ++number)
        TEAMO_TRY(
            server->threads_.start(setup.cpus, [&all = *server](const std::stop_token& stop, Tally& tally) {
                all.serve(stop, tally);
            }));
    return server;
}

Server::Server(UniqueFd listening, const ServerSetup& setup)
    : listening_(std::move(listening)),
      allowed_(setup.allowed),
      congestion_control_(setup.congestion_control),
      longest_order_(setup.longest_order) {}

std::uint16_t Server::port() const {
    sockaddr_in6 own{}; // the port is where sockaddr_in has it
    socklen_t length = sizeof own;
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&own), &length);
    return ntohs(own.sin6_port);
}

Server::~Server() {
    ::shutdown(listening_.get(), SHUT_RDWR); // accept() returns
    threads_.stop();
}

void Server::serve(const std::stop_token& stop, Tally& tally) const {
    while (!stop.stop_requested()) {
        UniqueFd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket && (errno == EINVAL || errno == EBADF)) return; // shut down
        if (!socket) continue;
        const Connection client(std::move(socket));
        client.notice_a_lost_peer();
        if (!allowed_.empty() && !allowed_.contains(client.peer())) continue;
        try {
            serve(client, stop, tally);
        } catch (const std::exception&) { // no memory: this connection ends, the others do not
            continue;
        }
    }
}

void Server::serve(const Connection& client, const std::stop_token& stop, Tally& tally) const {
    const auto order = read_order(client, Clock::now() + longest_order_, stop);
    if (!order) return;
    client.set_buffer(order->buffer);
    client.set_congestion_control(congestion_control_);
    const bool answers_itself = order->what == Serve::http || order->what == Serve::totals;
    if (!answers_itself && !client.send("x", stop)) return;
    const Service service{.client = client, .stop = stop, .tally = tally};
    switch (order->what) {
    case Serve::sink: receive_messages(client, stop, tally); break;
    case Serve::source: send_messages(client, order->bytes, stop, tally); break;
    case Serve::echo: service.echo(); break;
    case Serve::file: service.file(order->bytes); break;
    case Serve::store: service.store(order->bytes); break;
    case Serve::http: service.http(); break;
    case Serve::totals: {
        const auto now = totals();
        (void)client.send(fmt::format("{} {} {} {:.9f}\n", now.sent, now.received, now.operations, now.cpu),
                          stop);
        break;
    }
    }
}

} // namespace teamo::bench
