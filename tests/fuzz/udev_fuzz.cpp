// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Paths in udev's database, and addresses in any text.
// fuzz: -max_len=1024
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "kernel/interrupts/udev_policy.h"
#include "workers/processes.h"

#include <cstdlib>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    for (const auto& path : parse_udev_paths(text))
        if (path.size() > size) std::abort();
    if (const auto address = parse_mac_address(text);
        address && parse_mac_address(text_of(*address)) != address)
        std::abort();
    if (const auto address = parse_ip(text); address && parse_ip(text_of(*address)) != address) std::abort();
    static_cast<void>(parse_descendants(text));
    return 0;
}
