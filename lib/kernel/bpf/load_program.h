// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace teamo {

/// Runs `load`, which returns 0 or libbpf's error, in a thread of normal priority. The verifier keeps a CPU
/// busy for some 40 ms: at the daemon's real-time priority the CPU would process no received packets
/// meanwhile (ksoftirqd has a normal one). The error says why, in the words of the verifier or of libbpf.
/// `what`: "the BPF datapath".
Result<> load_programs(std::string_view what, const std::function<int()>& load);

/// What libbpf says of programs that do not load, with the verifier's log, goes to `listener` too, line by
/// line. Also from other threads, while load_programs() waits for them. nullptr: to nobody, as at first.
void hear_libbpf(std::function<void(std::string_view line)> listener);

/// The reason in libbpf's messages: the last words of the verifier, or else the first message. Empty: there
/// is none.
std::string reason_in(std::string_view messages);

} // namespace teamo
