// SPDX-License-Identifier: LGPL-2.1-or-later
//
// BPF iterators that write records of one size.
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace teamo {

/// Makes an iterator of a loaded program. `over`: what it lists, for errors.
Result<UniqueFd> link_iterator(int program, const std::string& over);

/// Runs it; all that it writes.
Result<std::vector<std::byte>> read_iterator(const UniqueFd& link, const std::string& over);

/// The same, as records.
template <class Record>
Result<std::vector<Record>> read_records(const UniqueFd& link, const std::string& over) {
    const auto bytes = TEAMO_TRY(read_iterator(link, over));
    std::vector<Record> records(bytes.size() / sizeof(Record));
    if (!records.empty()) std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
    return records;
}

} // namespace teamo
