// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

namespace teamo {

/// A team's pid file, held locked while its daemon lives: the lock, not the number in it, says that one does.
class PidFile {
public:
    /// EEXIST: another daemon has the team.
    static Result<PidFile> take(std::string path);
    PidFile(PidFile&&) noexcept = default;
    PidFile& operator=(PidFile&&) noexcept = default;
    ~PidFile();

private:
    PidFile(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
    std::string path_;
    UniqueFd file_;
};

/// The daemon that runs by this pid file, ours or teamd.
std::optional<pid_t> running_by(const std::string& path);

/// SIGTERM, and waits until it is gone. ESRCH: none runs; ETIMEDOUT: it did not end in time.
Result<> kill_by(const std::string& path, std::chrono::seconds patience);

} // namespace teamo
