// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The daemon as a process: its privileges, its way into the background, and its PID file.
#pragma once

#include "base/handle.h"
#include "base/result.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

namespace teamo {

/// Checks the capabilities that a team needs: CAP_NET_ADMIN (devices, addresses, filters), CAP_NET_RAW
/// (announcements), and with `needs_bpf` CAP_BPF (programs and maps) and CAP_PERFMON (without it the verifier
/// refuses packet access at a variable offset). CAP_SYS_ADMIN replaces the last two. EPERM: some are missing;
/// the error names them.
Result<> check_capabilities(bool needs_bpf);

/// teamd's -d: continues in a child; the parent waits for report_start(), 20 s at most as teamd, and exits
/// with that status. Returns the pipe to the parent.
Result<UniqueFd> daemonize();
/// Reports the exit status of the start to the parent; 0: success. Does nothing if there is no parent.
void report_start(UniqueFd parent, int status);

/// A team's PID file, which every user may read, and its lock (PATH.lock), which only its owner may open. The
/// lock, not the PID, shows that a daemon runs.
class PidFile {
public:
    /// Takes the lock. A daemon that was just killed holds it until the kernel has closed its files: waits so
    /// long for that. EEXIST: another daemon has the team.
    static Result<PidFile> take(std::string path,
                                std::chrono::milliseconds patience = std::chrono::milliseconds{500});
    /// Writes the PID of this process. Call it when the team is certain to be ours: until then the file may
    /// be that of a teamd that was not recognized. The destructor removes the file.
    Result<> write();
    PidFile(PidFile&&) noexcept = default;
    PidFile& operator=(PidFile&&) = delete;
    ~PidFile();

private:
    PidFile(std::string path, LockFile lock) : path_(std::move(path)), lock_(std::move(lock)) {}
    std::string path_;
    LockFile lock_;
    bool written_ = false;
};

/// Sends SIGTERM and waits until the daemon has ended. ESRCH: none runs; ETIMEDOUT: it did not end in time.
Result<> kill_by(const std::string& path, std::chrono::seconds patience);

} // namespace teamo
