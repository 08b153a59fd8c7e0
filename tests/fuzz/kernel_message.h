// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

/// A message of the kernel in memory that is as long as the message (but for the alignment of the words), so
/// that the sanitizer sees each byte read beyond it.
struct KernelMessage {
    KernelMessage(std::uint16_t type, std::span<const std::uint8_t> payload)
        : words((NLMSG_HDRLEN + payload.size() + 3) / 4) {
        header()->nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + payload.size());
        header()->nlmsg_type = type;
        if (!payload.empty())
            std::memcpy(reinterpret_cast<std::uint8_t*>(words.data()) + NLMSG_HDRLEN, payload.data(),
                        payload.size());
    }

    nlmsghdr* header() { return reinterpret_cast<nlmsghdr*>(words.data()); }

    std::vector<std::uint32_t> words;
};
