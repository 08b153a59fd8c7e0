// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/lock_file.h"

#include "kernel/files/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace teamo {

Result<std::optional<LockFile>> LockFile::try_take(std::string path) {
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return fail_errno(errno, path);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK) return std::optional<LockFile>();
        return fail_errno(errno, path);
    }
    // The previous holder removes the path. If it did so between our open and flock, the lock on the nameless
    // file excludes nobody. The next attempt creates a new file.
    struct stat locked {
    }, named{};
    if (::fstat(file.get(), &locked) < 0 || ::stat(path.c_str(), &named) < 0 ||
        locked.st_ino != named.st_ino || locked.st_dev != named.st_dev)
        return std::optional<LockFile>();
    return std::optional(LockFile(std::move(path), std::move(file)));
}

Result<bool> LockFile::is_held(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return fail_errno(errno, path);
    return ::flock(file.get(), LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

LockFile::~LockFile() {
    if (file_) remove_file(path_); // while the descriptor still holds the lock
}

} // namespace teamo
