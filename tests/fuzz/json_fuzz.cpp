// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Any bytes give a tree or an error of one line. A written tree reads back as the same tree.
// fuzz: -max_len=4096
#include "json/parse.h"
#include "json/write.h"

#include <cstdlib>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const auto read = json::parse({reinterpret_cast<const char*>(bytes), size});
    if (!read) {
        for (const char letter : read.error().text)
            if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) std::abort();
        return 0;
    }
    const json::Limits no_limit{.bytes = std::size_t{1} << 30};
    const auto kept = json::write(*read, {.indent = 0, .sort_keys = false});
    if (json::parse(kept, no_limit).value() != *read) std::abort();
    const auto sorted = json::write(*read);
    if (json::write(json::parse(sorted, no_limit).value()) != sorted) std::abort();
    return 0;
}
