// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Any bytes give a tree or an error of one line; what is written reads back as the same tree.
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
    for (const auto style : {json::Style{}, json::Style{.indent = 0, .sort_keys = false}})
        if (json::parse(json::write(*read, style), {.bytes = std::size_t{1} << 30}).value() != *read)
            std::abort();
    return 0;
}
