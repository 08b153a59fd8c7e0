// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The files of a daemon under /run: its journal and its claims of CPUs. What is read is written the same.
// fuzz: -max_len=4096
#include "runtime/journal.h"
#include "runtime/shared_files.h"

#include <cstdlib>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    if (const auto journal = parse_journal(text)) {
        const auto again = parse_journal(text_of(*journal));
        if (!again || *again != *journal) std::abort();
    }
    if (const auto claims = parse_claims(text)) {
        const auto again = parse_claims(text_of(*claims));
        if (!again || *again != *claims) std::abort();
    }
    return 0;
}
