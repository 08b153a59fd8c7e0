// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Any bytes give a configuration or an error, and each diagnostic is one line. The document of a
// configuration reads back as the same configuration.
// fuzz: -max_len=4096
#include "config/config_file.h"
#include "json/write.h"

#include <cstdlib>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const auto read = read_configuration({reinterpret_cast<const char*>(bytes), size});
    for (const auto& diagnostic : read.diagnostics)
        for (const char letter : text_of(diagnostic, "team0.conf"))
            if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) std::abort();

    if (!read.configuration && !read.has_errors()) std::abort();
    if (!read.configuration) return 0;
    const auto again = read_document(read.configuration->document);
    if (!again.configuration || again.configuration->document != read.configuration->document) std::abort();
    if (again.configuration->team.ports != read.configuration->team.ports) std::abort();
    return 0;
}
