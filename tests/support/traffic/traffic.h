// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Traffic with numbered packets, so that a test can count the lost ones.
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

/// The result of a range of numbered packets.
struct Tally {
    std::uint64_t sent = 0, lost = 0;
    std::uint64_t duplicated = 0;         ///< arrivals beyond the first of each
    std::uint64_t reordered = 0;          ///< arrivals after a higher number
    std::chrono::microseconds silence{0}; ///< the longest time between two arrivals
};
std::string text_of(const Tally& tally);

/// Sends UDP packets at a fixed rate from one namespace to another, until it is stopped. The sender uses
/// absolute deadlines: delayed packets are sent late, not omitted.
class Stream {
public:
    struct Way {
        const NetNs* from = nullptr;
        const NetNs* to = nullptr;
        std::string address; ///< of the receiver, IPv4 or IPv6
        unsigned rate = 10'000;
        std::uint16_t port = 5001;
        std::size_t size = 64; ///< bytes of payload
        unsigned per_skb = 1;  ///< packets that the sender gives to the kernel as one skb (UDP GSO), 1 to 64
        /// For a stream with pauses: sends for `burst`, then nothing for `pause`, and so on.
        milliseconds burst{0}, pause{0};
    };

    /// Returns when the first packet has arrived (so the neighbours are known); throws SetupError if none
    /// does.
    explicit Stream(const Way& way);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    /// The number of the next packet.
    std::uint64_t next() const { return next_; }
    /// The packets before the first, none of which has a number.
    std::uint64_t probes() const { return probes_; }
    /// Waits until a packet arrives that was sent at least this many packets after this call; false if none
    /// does.
    bool flows(std::uint64_t packets = 1, milliseconds patience = long_enough) const;
    /// Stops the sender, then waits until all packets have arrived, or none has for a second.
    void stop();
    /// The packets with numbers from `first` to before `end`.
    Tally tally(std::uint64_t first, std::uint64_t end) const;
    /// All packets. Call it after stop().
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
        std::chrono::microseconds gap{0}; ///< since the previous arrival
    };

    unsigned rate_;
    std::size_t size_;
    unsigned per_skb_;
    milliseconds burst_, pause_;
    UniqueFd sender_, receiver_;
    std::uint64_t probes_ = 0;
    std::atomic<std::uint64_t> next_{0};
    mutable std::mutex mutex_; ///< protects the following members
    std::vector<Arrival> arrivals_;
    bool first_came_ = false;
    std::uint64_t latest_ = 0;
    SteadyClock::time_point last_arrival_;
    std::jthread receiving_, sending_; ///< last: use the other members
};

/// Whether one ICMP or ICMPv6 echo to the address is answered within `patience`.
bool answers_echo(const NetNs& from, const std::string& address, milliseconds patience = long_enough);
/// Repeats the echo until it is answered: the first one also has to resolve the neighbour.
testing::AssertionResult reaches(const NetNs& from, const std::string& address,
                                 milliseconds patience = long_enough);

/// Sends this many bytes of a pattern by TCP to the address, where they are compared; true if all arrived.
bool carries_tcp(const NetNs& from, const NetNs& to, const std::string& address, std::size_t bytes);

} // namespace teamo::test
