// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Any names, one per line and first that of the device, give one role each.
// fuzz: -max_len=4096
#include "kernel/interrupts/vector_names.h"

#include <cstdlib>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(bytes), size);
    std::vector<IrqVector> vectors;
    for (std::size_t end = 0; end != std::string_view::npos && vectors.size() < 64;
         text.remove_prefix(end + 1)) {
        end = text.find('\n');
        vectors.emplace_back().name = text.substr(0, end);
        if (end == std::string_view::npos) break;
    }
    const std::vector<std::string> device_names{vectors.front().name};
    const auto roles = roles_of(vectors, device_names);
    if (roles.size() != vectors.size()) std::abort();
    for (const auto& role : roles)
        if (role.queue >= 65536) std::abort();
    return 0;
}
