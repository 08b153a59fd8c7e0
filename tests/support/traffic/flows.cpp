// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/traffic/flows.h"

#include "support/daemon/process.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

namespace teamo::test {
namespace {

constexpr std::size_t request_size = 64, largest_write = 1 << 16;

struct Pairs {
    std::vector<UniqueFd> near, far;
};

/// Connected sockets; the near ends are in `from`.
Pairs connect(const NetNs& from, const NetNs& to, const std::string& address, std::uint16_t port,
              std::size_t count) {
    const bool ipv6 = address.find(':') != std::string::npos;
    sockaddr_in6 v6{};
    sockaddr_in v4{};
    v6.sin6_family = AF_INET6;
    v4.sin_family = AF_INET;
    v6.sin6_port = v4.sin_port = htons(port);
    const auto* name = ipv6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
    const socklen_t size = ipv6 ? sizeof v6 : sizeof v4;
    if (::inet_pton(name->sa_family, address.c_str(),
                    ipv6 ? static_cast<void*>(&v6.sin6_addr) : static_cast<void*>(&v4.sin_addr)) != 1)
        throw SetupError(address + " is no address");
    const auto make = [&](const NetNs& in) {
        return UniqueFd(in.inside([&] { return ::socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0); }));
    };
    const auto listener = make(to);
    constexpr int on = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(listener.get(), name, size) < 0 || ::listen(listener.get(), 4096) < 0)
        throw SetupError("cannot listen at " + address);
    Pairs pairs;
    for (std::size_t index = 0; index < count; ++index) {
        auto near = make(from);
        ::setsockopt(near.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (::connect(near.get(), name, size) < 0) throw SetupError("cannot connect to " + address);
        UniqueFd far(::accept(listener.get(), nullptr, nullptr));
        if (!far) throw SetupError("no connection arrived at " + address);
        pairs.near.push_back(std::move(near));
        pairs.far.push_back(std::move(far));
    }
    return pairs;
}

std::vector<pollfd> all_of(const std::vector<UniqueFd>& sockets) {
    std::vector<pollfd> list;
    for (const auto& socket : sockets)
        list.push_back({.fd = socket.get(), .events = POLLIN, .revents = 0});
    return list;
}

/// Blocks until the socket is shut down.
void send_without_end(int socket) {
    static const std::array<char, largest_write> zeros{};
    while (::send(socket, zeros.data(), zeros.size(), MSG_NOSIGNAL) > 0) {
    }
}

/// Reads a file of /proc/net in which a line of names is followed by a line of numbers.
void read_columns(const std::string& path, std::map<std::string, std::uint64_t>& into) {
    std::ifstream file(path);
    for (std::string names, numbers; std::getline(file, names) && std::getline(file, numbers);) {
        std::istringstream name_stream(names), number_stream(numbers);
        std::string name, number;
        while (name_stream >> name && number_stream >> number)
            if (!name.ends_with(':')) into[name] = std::strtoull(number.c_str(), nullptr, 10);
    }
}

} // namespace

BulkFlows::BulkFlows(const Way& way) : rates_(way.rates.size()) {
    auto pairs = connect(*way.from, *way.to, way.address, way.port, way.rates.size());
    senders_ = std::move(pairs.near);
    receivers_ = std::move(pairs.far);
    set_rates(way.rates);
    threads_.emplace_back([this](const std::stop_token& stop) { receive_all(stop); });
    for (std::size_t index = 0; index < senders_.size(); ++index)
        if (way.rates[index] == 0)
            threads_.emplace_back([socket = senders_[index].get()] { send_without_end(socket); });
    threads_.emplace_back([this](const std::stop_token& stop) { send_paced(stop); });
    if (!eventually("", [this] { return received_ > 0; })) throw SetupError("no bulk arrives");
}

BulkFlows::~BulkFlows() {
    for (const auto& socket : senders_)
        ::shutdown(socket.get(), SHUT_RDWR);
}

void BulkFlows::set_rates(const std::vector<double>& rates) {
    for (std::size_t index = 0; index < rates_.size(); ++index)
        rates_[index] = rates.at(index);
}

void BulkFlows::send_paced(const std::stop_token& stop) {
    static const std::array<char, largest_write> zeros{};
    std::vector<double> allowance(senders_.size(), 0);
    auto last = SteadyClock::now();
    while (!stop.stop_requested()) {
        std::this_thread::sleep_for(2ms);
        const auto now = SteadyClock::now();
        const double seconds = std::chrono::duration<double>(now - last).count();
        last = now;
        for (std::size_t index = 0; index < senders_.size(); ++index) {
            const double rate = rates_[index];
            // Sends later what the connection did not accept, but at most the bytes of 250 ms.
            allowance[index] = std::min(allowance[index] + rate * seconds, std::max(rate / 4, 1e4));
            while (rate > 0 && allowance[index] >= std::min(rate / 100, 4096.0)) {
                const auto size = std::min(static_cast<std::size_t>(allowance[index]), zeros.size());
                const auto sent =
                    ::send(senders_[index].get(), zeros.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (sent <= 0) break;
                allowance[index] -= static_cast<double>(sent);
            }
        }
    }
}

void BulkFlows::receive_all(const std::stop_token& stop) {
    auto list = all_of(receivers_);
    while (!stop.stop_requested()) {
        if (::poll(list.data(), list.size(), 50) <= 0) continue;
        for (auto& one : list) {
            if (one.revents == 0) continue;
            // MSG_TRUNC: the kernel discards the data without a copy (tcp(7)).
            const auto size = ::recv(one.fd, nullptr, 1 << 22, MSG_TRUNC | MSG_DONTWAIT);
            if (size > 0)
                received_ += static_cast<std::uint64_t>(size);
            else if (size == 0)
                one.fd = -1; // poll() passes over it
        }
    }
}

RequestFlows::RequestFlows(const NetNs& from, const NetNs& to, const std::string& address,
                           unsigned connections, double requests_per_second, std::uint16_t port) {
    auto pairs = connect(from, to, address, port, connections);
    clients_ = std::move(pairs.near);
    servers_ = std::move(pairs.far);
    threads_.emplace_back([this](const std::stop_token& stop) { answer(stop); });
    threads_.emplace_back(
        [this, requests_per_second](const std::stop_token& stop) { ask(stop, requests_per_second); });
    if (!eventually("", [this] { return answered_ > 0; })) throw SetupError("no request is answered");
}

RequestFlows::~RequestFlows() {
    for (const auto& socket : clients_)
        ::shutdown(socket.get(), SHUT_RDWR);
}

void RequestFlows::ask(const std::stop_token& stop, double per_second) {
    std::array<char, request_size> request{};
    std::array<char, 16 * request_size> answers{};
    double due = 0;
    std::size_t next = 0;
    auto last = SteadyClock::now();
    while (!stop.stop_requested()) {
        std::this_thread::sleep_for(2ms);
        const auto now = SteadyClock::now();
        due += per_second * std::chrono::duration<double>(now - last).count();
        last = now;
        for (due = std::min(due, per_second); due >= 1; due -= 1, next = (next + 1) % clients_.size()) {
            const auto size = ::recv(clients_[next].get(), answers.data(), answers.size(), MSG_DONTWAIT);
            if (size > 0) answered_ += static_cast<std::uint64_t>(size) / request_size;
            static_cast<void>(
                ::send(clients_[next].get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
        }
    }
}

void RequestFlows::answer(const std::stop_token& stop) {
    auto list = all_of(servers_);
    std::array<char, 16 * request_size> requests{};
    while (!stop.stop_requested()) {
        if (::poll(list.data(), list.size(), 50) <= 0) continue;
        for (auto& one : list) {
            if (one.revents == 0) continue;
            const auto size = ::recv(one.fd, requests.data(), requests.size(), MSG_DONTWAIT);
            if (size > 0)
                static_cast<void>(::send(one.fd, requests.data(), static_cast<std::size_t>(size),
                                         MSG_NOSIGNAL | MSG_DONTWAIT));
            else if (size == 0)
                one.fd = -1;
        }
    }
}

std::map<std::string, std::uint64_t> tcp_counters(const NetNs& in) {
    return in.inside([] {
        std::map<std::string, std::uint64_t> counters;
        read_columns("/proc/thread-self/net/netstat", counters);
        read_columns("/proc/thread-self/net/snmp", counters);
        return counters;
    });
}

} // namespace teamo::test
