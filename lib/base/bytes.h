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

} // namespace teamo
