// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames of ARP and neighbour discovery, as any host on the network may send them.
// fuzz: -max_len=256
#include "watch/probe_frames.h"

#include <cstdint>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const FrameSource source{.mac = {{2, 0, 0, 0, 0, 1}}};
    // What was read can be written and is read again.
    if (const auto arp = parse_arp(bytes); arp && !arp->is_reply)
        if (parse_arp(arp_probe(source, arp->sender, arp->target)) != arp) __builtin_trap();
    if (const auto message = parse_neighbour(bytes); message && !message->is_advertisement)
        if (parse_neighbour(neighbour_probe(source, *parse_ip("fe80::1"), message->target)) != message)
            __builtin_trap();
    return 0;
}
