// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <linux/filter.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// Sends complete Ethernet frames; receives nothing. Never blocks, except that closing a packet socket waits
/// until the kernel has no reader of it left (synchronize_net() in af_packet.c): on busy CPUs a second.
class PacketSocket {
public:
    static Result<PacketSocket> open();
    /// ENETDOWN: the device is down.
    Result<> send(IfIndex device, std::span<const std::byte> frame);

private:
    explicit PacketSocket(UniqueFd socket) : socket_(std::move(socket)) {}
    UniqueFd socket_;
};

/// Sends and receives complete frames at one device, whatever master the device has. Never blocks.
class PortSocket {
public:
    /// Frames to read at once: other events of the daemon wait meanwhile.
    static constexpr int frames_at_once = 16;

    struct What {
        std::uint16_t protocol = 0;          ///< an ethertype, in host order
        std::optional<MacAddress> group{};   ///< a multicast address that the device must receive
        std::vector<sock_filter> filter{};   ///< of received frames
        std::optional<int> receive_buffer{}; ///< bytes
    };
    /// ENODEV: the device is gone.
    static Result<PortSocket> open(IfIndex device, const What& what);
    /// The same with a socket that open() has made, perhaps of an earlier process. ENODEV: it is not of this
    /// device and protocol.
    static Result<PortSocket> take(UniqueFd socket, IfIndex device, const What& what);

    /// The device must receive frames to this address too.
    Result<> add_address(const MacAddress& address);
    /// The same for a multicast address.
    Result<> add_group(const MacAddress& address);
    /// ENETDOWN: the device is down.
    Result<> send(std::span<const std::byte> frame);
    /// The next received frame, cut to the length of `into`; none: there is no more.
    std::optional<std::span<const std::byte>> receive(std::span<std::byte> into);
    int fd() const { return socket_.get(); }
    UniqueFd release() { return std::move(socket_); }

private:
    Result<> add_membership(unsigned short type, const MacAddress& address);
    Result<> set(int level, int name, const void* value, std::size_t size);
    Result<> set_up(const What& what);
    PortSocket(UniqueFd socket, IfIndex device) : socket_(std::move(socket)), device_(device) {}
    UniqueFd socket_;
    IfIndex device_;
};

struct GroupFrame {
    IfIndex port;
    MacAddress source;
    std::string bytes;              ///< the first bytes, at most GroupFrames::most_bytes
    std::chrono::nanoseconds at{0}; ///< time of arrival, wall clock
    bool operator==(const GroupFrame&) const = default;
};

/// Captures the broadcasts and multicasts that each port receives, before any datapath: the frames that a
/// switch floods show whether it treats the ports as one link.
class GroupFrames {
public:
    static constexpr std::size_t most_bytes = 192;
    /// For each port.
    static constexpr std::size_t most_frames = 4096;

    /// Starts to capture. Frames with a VLAN tag and link-local frames (01:80:c2:00:00:0x) are left out.
    /// EPERM: CAP_NET_RAW is missing. ENODEV: a port is gone.
    static Result<GroupFrames> open(std::span<const IfIndex> ports);
    /// The frames since open() or the last call, as many as the socket's buffer could hold.
    std::vector<GroupFrame> take();

private:
    struct Listener {
        IfIndex port;
        UniqueFd socket;
    };
    std::vector<Listener> listeners_;
};

} // namespace teamo
