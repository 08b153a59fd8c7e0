// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A lock between programs of the same user. flock(2) asks for no more than an open descriptor, so a file or a
// folder that others may read is one that others may lock: this file has mode 0600, and nobody else opens it.
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <optional>
#include <string>

namespace teamo {

/// Held as long as the value lives, and by the kernel's doing no longer than the process. The file goes with
/// the value.
class LockFile {
public:
    /// None: somebody holds it. Never waits.
    static Result<std::optional<LockFile>> try_take(std::string path);
    /// Whether somebody holds it now; EACCES for who may not open it, ENOENT where there is no such file.
    static Result<bool> is_held(const std::string& path);

    LockFile(LockFile&&) noexcept = default;
    LockFile& operator=(LockFile&&) = delete;
    ~LockFile();

    /// False: it was moved from.
    explicit operator bool() const { return static_cast<bool>(file_); }

private:
    LockFile(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
    std::string path_;
    UniqueFd file_;
};

} // namespace teamo
