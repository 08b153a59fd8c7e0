// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/numbered.h"

#include "support/daemon/process.h"
#include "support/net/socket_address.h"

#include <sys/socket.h>
#include <time.h>

#include <array>
#include <vector>

namespace teamo::test {
namespace {

struct Question {
    std::uint64_t first, end;
};

UniqueFd connected(const std::string& address, std::uint16_t port) {
    const SocketAddress to(address, port);
    UniqueFd socket(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket || ::connect(socket.get(), to.get(), to.size) < 0)
        throw SetupError("cannot connect to " + address);
    return socket;
}

} // namespace

int count_numbers(std::uint16_t port) {
    const SocketAddress here("0.0.0.0", port);
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int buffer = 8 << 20;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    if (::bind(socket.get(), here.get(), here.size) < 0) return 1;
    std::vector<bool> seen;
    for (;;) {
        std::array<std::uint64_t, 2> words{};
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const auto got = ::recvfrom(socket.get(), words.data(), sizeof words, 0,
                                    reinterpret_cast<sockaddr*>(&from), &size);
        if (got == sizeof words[0]) {
            if (words[0] >= 100'000'000) continue; // larger than any number that is sent
            if (words[0] == 0) seen.clear();       // a new stream
            if (words[0] >= seen.size()) seen.resize(words[0] + 1);
            seen[words[0]] = true;
        } else if (got == sizeof(Question)) {
            std::uint64_t missing = 0;
            for (auto number = words[0]; number < words[1]; ++number)
                if (number >= seen.size() || !seen[number]) ++missing;
            ::sendto(socket.get(), &missing, sizeof missing, 0, reinterpret_cast<const sockaddr*>(&from),
                     size);
        }
    }
}

NumberedStream::NumberedStream(const std::string& address, std::uint16_t port, unsigned rate)
    : rate_(rate), sender_(connected(address, port)), asker_(connected(address, port)) {
    const timeval patience{.tv_sec = 0, .tv_usec = 300'000};
    ::setsockopt(asker_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sending_ = std::jthread([this](const std::stop_token& stop) { send_all(stop); });
}

NumberedStream::~NumberedStream() = default;

void NumberedStream::send_all(const std::stop_token& stop) {
    timespec due{};
    ::clock_gettime(CLOCK_MONOTONIC, &due);
    while (!stop.stop_requested()) {
        const std::uint64_t number = next_;
        // A refused packet counts as lost.
        static_cast<void>(::send(sender_.get(), &number, sizeof number, MSG_DONTWAIT));
        next_ = number + 1;
        due.tv_nsec += 1'000'000'000L / rate_;
        if (due.tv_nsec >= 1'000'000'000L) {
            due.tv_nsec -= 1'000'000'000L;
            ++due.tv_sec;
        }
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
    }
}

std::uint64_t NumberedStream::missing(std::uint64_t first, std::uint64_t end) const {
    const Question question{.first = first, .end = end};
    for (int attempt = 0; attempt < 60; ++attempt) {
        // The reply to an earlier request may still arrive.
        std::uint64_t answer = 0;
        while (::recv(asker_.get(), &answer, sizeof answer, MSG_DONTWAIT) > 0) {
        }
        ::send(asker_.get(), &question, sizeof question, 0);
        if (::recv(asker_.get(), &answer, sizeof answer, 0) == sizeof answer) return answer;
    }
    throw SetupError("the counter outside does not answer");
}

testing::AssertionResult NumberedStream::flows(std::uint64_t packets, milliseconds patience) const {
    const auto start = SteadyClock::now();
    auto first = next();
    while (since(start) < patience) {
        while (next() < first + packets)
            std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(20ms); // let packets arrive
        if (missing(first, first + packets) == 0) return testing::AssertionSuccess();
        first = next();
    }
    return testing::AssertionFailure() << "not " << packets << " packets in a row arrived";
}

} // namespace teamo::test
