// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Messages of the kernel about devices. They come from the kernel alone, but a newer one may send
// what this one does not: each attribute is read within its length. The first byte chooses the type.
#include "kernel/netlink/links.h"

#include <linux/rtnetlink.h>

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 2 || size > 65536) return 0;
    // As long as the message, so that the sanitizer sees each byte read beyond it.
    std::vector<std::uint32_t> words((NLMSG_HDRLEN + size - 1 + 3) / 4);
    auto* message = reinterpret_cast<nlmsghdr*>(words.data());
    message->nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + size - 2);
    message->nlmsg_type = bytes[0] % 2 == 0 ? RTM_NEWLINK : RTM_DELLINK;
    std::memcpy(reinterpret_cast<std::uint8_t*>(message) + NLMSG_HDRLEN, bytes + 2, size - 2);
    if (const auto link = parse_link(message)) {
        if (link->name.size() > size) std::abort();
        static_cast<void>(link->has_link());
        static_cast<void>(port_mark_of(*link));
        static_cast<void>(team_of_device(*link));
    }
    return 0;
}
