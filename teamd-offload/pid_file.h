// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "runtime/lock_file.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

namespace teamo {

/// A team's pid file, which everybody may read, and the lock beside it (PATH.lock), which only its owner may
/// open: the lock, not the number, says that a daemon lives.
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

/// The daemon that runs by this pid file, ours or teamd. Who may not open the lock goes by the name of the
/// process that has the number.
std::optional<pid_t> running_by(const std::string& path);

/// SIGTERM, and waits until it is gone. ESRCH: none runs; ETIMEDOUT: it did not end in time.
Result<> kill_by(const std::string& path, std::chrono::seconds patience);

} // namespace teamo
