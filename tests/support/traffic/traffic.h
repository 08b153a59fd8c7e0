// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Traffic with a number on every packet, so that a test can say what was lost, and not just that
// something came through.
#pragma once

#include "support/eventually.h"
#include "support/net/net_ns.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace teamo::test {

/// What became of a run of numbered packets.
struct Tally {
    std::uint64_t sent = 0, lost = 0;
    std::uint64_t duplicated = 0;         ///< arrivals beyond the first of each
    std::uint64_t reordered = 0;          ///< arrivals behind a later number
    std::chrono::microseconds silence{0}; ///< the longest time between two arrivals
};
std::string text_of(const Tally& tally);

/// UDP packets at a fixed rate from one namespace to another, until it is stopped. The sender keeps to
/// absolute deadlines: what the machine held up is sent late, not left out.
class Stream {
public:
    struct Way {
        const NetNs* from = nullptr;
        const NetNs* to = nullptr;
        std::string address; ///< of the receiver, IPv4 or IPv6
        unsigned rate = 10'000;
        std::uint16_t port = 5001;
        std::size_t size = 64; ///< bytes of payload
        /// Of one that pauses: sends at its rate for `burst`, nothing for `pause`, and so on.
        milliseconds burst{0}, pause{0};
    };

    /// Returns when the first packet arrived (neighbours are known then); throws SetupError if none does.
    explicit Stream(const Way& way);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    /// The number the next packet will bear.
    std::uint64_t next() const { return next_; }
    /// Waits until a packet arrives that was sent so many packets after this call; false where none does.
    bool flows(std::uint64_t packets = 1, milliseconds patience = long_enough) const;
    /// Ends the sender, lets what is under way arrive: until all is there, or nothing came for a second.
    void stop();
    /// Packets numbered from `first` up to, not including, `end`.
    Tally tally(std::uint64_t first, std::uint64_t end) const;
    /// All of them; to be read after stop().
    Tally tally() const { return tally(0, next_); }

private:
    void connect(const Way& way);
    void await_first();
    void send_all(const std::stop_token& stop);
    void receive_all(const std::stop_token& stop);
    void note(std::uint64_t number);
    std::uint64_t latest() const;

    struct Arrival {
        std::uint32_t times = 0;
        bool late = false;
        std::chrono::microseconds gap{0}; ///< since the arrival before
    };

    unsigned rate_;
    std::size_t size_;
    milliseconds burst_, pause_;
    UniqueFd sender_, receiver_;
    std::atomic<std::uint64_t> next_{0};
    mutable std::mutex mutex_; ///< of what follows
    std::vector<Arrival> arrivals_;
    bool first_came_ = false;
    std::uint64_t latest_ = 0;
    SteadyClock::time_point last_arrival_;
    std::jthread receiving_, sending_; ///< last: they use the rest
};

/// One ICMP or ICMPv6 echo to the address, answered within `patience`.
bool answers_echo(const NetNs& from, const std::string& address, milliseconds patience = long_enough);
/// Asks until it is answered: the first echo also has to find the neighbour.
testing::AssertionResult reaches(const NetNs& from, const std::string& address,
                                 milliseconds patience = long_enough);

/// Sends that many bytes of a pattern by TCP to the address, where they are compared: true if all arrived.
bool carries_tcp(const NetNs& from, const NetNs& to, const std::string& address, std::size_t bytes);

} // namespace teamo::test
