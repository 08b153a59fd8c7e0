// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A TCP connection of the load generators. Every call returns within a quarter of a second, so that a thread
// sees that it must stop.
#pragma once

#include "base/clock.h"
#include "base/handle.h"
#include "base/ip_address.h"
#include "base/result.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace teamo::bench {

/// Whether a server that refuses a connection may be about to start.
enum class Refused : std::uint8_t { is_final, is_tried_again };

class Connection {
public:
    explicit Connection(UniqueFd socket);

    static Result<Connection> to(const IpAddress& address, std::uint16_t port, std::uint32_t buffer);
    /// The same, tried again for that time: where a SYN is lost, the kernel sends the next one after a
    /// second, longer than a call may take.
    static Result<Connection> to_within(std::chrono::milliseconds longest, const IpAddress& address,
                                        std::uint16_t port, std::uint32_t buffer, Refused refused,
                                        const std::stop_token& stop);

    /// 0: not limited; the kernel doubles it (socket(7)).
    void set_buffer(std::uint32_t bytes) const;
    /// The name of tcp(7); empty: as the kernel chose. With CAP_NET_ADMIN also one that
    /// net.ipv4.tcp_allowed_congestion_control does not have.
    void set_congestion_control(const std::string& name) const;

    // False: it is closed, or the thread must stop.
    bool send(std::string_view bytes, const std::stop_token& stop) const;
    /// Adds to `sent` as it sends.
    bool send_file(int file, std::uint32_t bytes, const std::stop_token& stop,
                   std::atomic<std::uint64_t>& sent) const;

    /// How many bytes arrived; 0: it is closed, the thread must stop, or it is too late.
    std::size_t receive(std::span<char> into, const std::stop_token& stop,
                        Clock::time_point until = Clock::time_point::max()) const;
    bool receive_all(std::span<char> into, const std::stop_token& stop) const;

    /// A peer that is gone without a word ends the connection within half a minute.
    void notice_a_lost_peer() const;

    IpAddress peer() const;

private:
    UniqueFd socket_;
};

/// A file in memory of that many bytes; -1 as with UniqueFd if there is no memory.
UniqueFd memory_file(std::uint32_t bytes);

} // namespace teamo::bench
