// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A lock between processes of the same user. flock(2) needs only an open descriptor, so users who can read a
// file or folder can also lock it: therefore this file has mode 0600.
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <optional>
#include <string>

namespace teamo {

/// Held as long as this object exists; the kernel releases it when the process ends. The destructor removes
/// the file.
class LockFile {
public:
    /// None: another process holds it. Never waits.
    static Result<std::optional<LockFile>> try_take(std::string path);
    /// True if a process holds it now. EACCES: the caller may not open it; ENOENT: there is no such file.
    static Result<bool> is_held(const std::string& path);

    LockFile(LockFile&&) noexcept = default;
    LockFile& operator=(LockFile&&) = delete;
    ~LockFile();

    /// False after a move from this object.
    explicit operator bool() const { return static_cast<bool>(file_); }

private:
    LockFile(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
    std::string path_;
    UniqueFd file_;
};

} // namespace teamo
