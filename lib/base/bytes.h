// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in network order, without casts to packed structs.
#pragma once

#include "base/ip_address.h"
#include "base/mac_address.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace teamo {

using Bytes = std::vector<std::byte>;

/// Puts a frame together from the front.
class FrameWriter {
public:
    template <std::unsigned_integral Number>
    FrameWriter& big_endian(Number number) {
        for (std::size_t shift = sizeof(Number) * 8; shift > 0; shift -= 8)
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (shift - 8)));
        return *this;
    }
    FrameWriter& mac(const MacAddress& address) { return raw(std::as_bytes(std::span(address.bytes))); }
    FrameWriter& ip(const IpAddress& address) {
        return raw(std::as_bytes(std::span(address.bytes).first(address.size())));
    }
    FrameWriter& raw(std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
        return *this;
    }
    /// Overwrites two bytes that were written before, for example a checksum.
    FrameWriter& patch(std::size_t offset, std::uint16_t number) {
        bytes_.at(offset) = static_cast<std::byte>(number >> 8);
        bytes_.at(offset + 1) = static_cast<std::byte>(number);
        return *this;
    }

    std::size_t size() const { return bytes_.size(); }
    std::span<const std::byte> bytes() const { return bytes_; }
    Bytes take() { return std::move(bytes_); }

private:
    Bytes bytes_;
};

/// Reads from the front of bytes that are known to be long enough.
class FrameReader {
public:
    explicit FrameReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
    std::uint16_t two() {
        const auto high = byte();
        return static_cast<std::uint16_t>(high << 8 | byte());
    }
    std::uint32_t four() {
        const std::uint32_t high = two();
        return high << 16 | two();
    }
    MacAddress mac() {
        MacAddress address;
        for (auto& one : address.bytes)
            one = byte();
        return address;
    }
    IpAddress ip(bool ipv6) {
        IpAddress address{.ipv6 = ipv6};
        for (std::size_t i = 0; i < address.size(); ++i)
            address.bytes[i] = byte();
        return address;
    }
    void skip(std::size_t count) { static_cast<void>(take(count)); }

private:
    std::span<const std::byte> take(std::size_t count) {
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    std::span<const std::byte> rest_;
};

} // namespace teamo
