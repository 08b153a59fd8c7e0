// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// Runs `load`, which returns 0 or libbpf's error, in a thread of normal priority. The verifier keeps a CPU
/// busy for some 40 ms: at the daemon's real-time priority the CPU would process no received packets
/// meanwhile (ksoftirqd has a normal one). The error says why, in the words of the verifier or of libbpf.
/// `what`: "the BPF datapath".
Result<> load_programs(std::string_view what, const std::function<int()>& load);

/// Whether the kernel may accept the same program in a moment. ENOSPC lasts: the verifier's log was longer.
inline bool may_load_later(const Error& error) { return is_passing(error) && error.number != ENOSPC; }

/// What libbpf says of programs that do not load, with the verifier's log, goes to `listener` too, line by
/// line. Also from other threads, while load_programs() waits for them. nullptr: to nobody, as at first.
void hear_libbpf(std::function<void(std::string_view line)> listener);

/// The reason in libbpf's messages: the last words of the verifier, or else the first message. Empty: there
/// is none.
std::string reason_in(std::string_view messages);

// BPF iterators, which write records of one size.

/// Makes an iterator of a loaded program. `over`: what it lists, for errors.
Result<UniqueFd> link_iterator(int program, const std::string& over);

/// Runs it; what it writes, up to `most` bytes.
Result<std::vector<std::byte>> read_iterator(const UniqueFd& link, const std::string& over, std::size_t most);

/// The same, as at most so many records.
template <class Record>
Result<std::vector<Record>> read_records(const UniqueFd& link, const std::string& over, std::size_t most) {
    const auto bytes = TEAMO_TRY(read_iterator(link, over, most * sizeof(Record)));
    std::vector<Record> records(bytes.size() / sizeof(Record));
    if (!records.empty()) std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
    return records;
}

} // namespace teamo
