// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cost of reading all sockets of the machine, which the daemon does once a second.
#include "sockets.h"

#include "support/figure.h"
#include "workers/socket_traffic.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <deque>

namespace teamo::test {
namespace {

constexpr std::size_t processes = 4, connections = 5'000; // per process, which has both ends

/// Keeps the connections open until it is killed.
int hold_connections(int pipe) {
    // Up to the hard limit: raising that needs a capability that a container may not have.
    rlimit room{};
    ::getrlimit(RLIMIT_NOFILE, &room);
    room.rlim_cur = room.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &room);
    const auto listener = bound_socket(SOCK_STREAM);
    if (::listen(listener.get(), 128) < 0) return 1;
    std::vector<UniqueFd> ends;
    for (std::size_t made = 0; made < connections; ++made) {
        ends.push_back(connected_to(listener.get(), SOCK_STREAM));
        ends.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!ends.back()) return 1;
    }
    say(pipe);
    return ::pause();
}

/// CPU time of this thread, which includes the kernel's work for it. Excludes other processes.
double cpu_milliseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double milliseconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

TEST(SocketReading, reads_40000_sockets_in_100_ms) {
    std::deque<Child> holders;
    for (std::size_t made = 0; made < processes; ++made)
        holders.emplace_back(hold_connections);
    for (const auto& holder : holders)
        holder.await_word();
    const auto count = [&holders](const std::vector<SocketTraffic>& sockets) {
        std::size_t sum = 0;
        for (const auto& holder : holders)
            sum += of_process(sockets, holder.pid()).size();
        return sum;
    };
    constexpr std::size_t sockets = 2 * processes * connections;
    auto source = SocketSource::open();
    ASSERT_EQ(source.limitations(), "");
    constexpr std::size_t rounds = 9;
    std::vector<double> took, cost;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto start = SteadyClock::now();
        const auto before = cpu_milliseconds();
        const auto read = source.read();
        cost.push_back(cpu_milliseconds() - before);
        took.push_back(milliseconds_since(start));
        ASSERT_TRUE(read);
        EXPECT_EQ(count(*read), sockets);
    }
    const auto start = SteadyClock::now();
    const auto borrowed = read_descriptors();
    const auto without = milliseconds_since(start);
    ASSERT_TRUE(borrowed);
    EXPECT_EQ(count(*borrowed), sockets);
    fmt::print("without BPF in {:.0f} ms\n", without);
    RecordProperty("milliseconds", static_cast<int>(median(took)));
    EXPECT_TRUE(at_most("ms", took, {.promised = 100, .defect = 500}));
    EXPECT_TRUE(at_most("ms of CPU", cost, {.promised = 100, .defect = 500}));
}

} // namespace
} // namespace teamo::test
