// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernel/files/files.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

namespace teamo {

/// A team's PID file, which every user may read, and its lock (PATH.lock), which only its owner may open. The
/// lock, not the PID, shows that a daemon runs.
class PidFile {
public:
    /// EEXIST: another daemon has the team.
    static Result<PidFile> take(std::string path);
    PidFile(PidFile&&) noexcept = default;
    PidFile& operator=(PidFile&&) = delete;
    ~PidFile();

private:
    PidFile(std::string path, LockFile lock) : path_(std::move(path)), lock_(std::move(lock)) {}
    std::string path_;
    LockFile lock_;
};

/// The PID of the daemon that runs with this PID file, ours or teamd. If the caller may not open the lock,
/// the name of the process decides.
std::optional<pid_t> running_by(const std::string& path);

/// Sends SIGTERM and waits until the daemon has ended. ESRCH: none runs; ETIMEDOUT: it did not end in time.
Result<> kill_by(const std::string& path, std::chrono::seconds patience);

} // namespace teamo
