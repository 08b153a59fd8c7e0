// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "support/eventually.h"

#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace teamo::test {

class NetNs;
class WatchedCalls;

/// The setup of a test failed. Ends the test with its text; it is no failure of the daemon.
struct SetupError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How a command ended: its exit status (128 + number for a signal) and what it wrote.
struct Output {
    int status = 0;
    std::string out, err;
};

struct Command {
    std::vector<std::string> argv{};
    const NetNs* in = nullptr; ///< null: the namespace of the calling thread
    std::string input{};
    std::vector<std::string> environment{}; ///< in addition, "NAME=value"
    WatchedCalls* watched = nullptr;        ///< must outlive the process; null: not watched
};

/// A process that this test started. The destructor kills and reaps it.
class Process {
public:
    static Process start(const Command& command);
    Process(Process&&) noexcept = default;
    Process& operator=(Process&&) = delete;
    ~Process();

    pid_t pid() const { return pid_; }
    bool running();
    void signal(int number) const;
    /// Its exit status, or none if it still runs after `patience`.
    std::optional<int> wait(milliseconds patience);
    /// Its output so far.
    std::string out() const;
    std::string err() const;

private:
    Process(pid_t pid, UniqueFd process, UniqueFd out, UniqueFd err);
    pid_t pid_;
    UniqueFd process_, out_, err_;
    std::optional<int> status_;
};

/// Runs it to its end; throws SetupError if that takes longer than `patience`.
Output run(const Command& command, milliseconds patience = 30s);

/// Runs a shell command.
Output sh(const NetNs& in, const std::string& line);
/// Runs a shell command that must succeed; throws SetupError with its error output otherwise.
std::string must(const NetNs& in, const std::string& line);

} // namespace teamo::test
