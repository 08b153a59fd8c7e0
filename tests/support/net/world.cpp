// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/world.h"

#include "support/net/net_ns.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace teamo::test {
namespace {

[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "no world of its own for this test: %s: %s (these tests run as root)\n", what,
                 std::strerror(errno));
    std::exit(EXIT_FAILURE);
}

void mount_anew(const char* type, const char* where) {
    if (::mount(type, where, type, 0, nullptr) < 0) give_up(where);
}

void keep_mounts_private() {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) give_up("private mounts");
}

/// Waits for `child` and reaps other children meanwhile; then exits with its status.
[[noreturn]] void end_like(pid_t child) {
    for (;;) {
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, 0);
        if (ended < 0 && errno != EINTR) ::_exit(EXIT_FAILURE);
        if (ended != child) continue;
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
}

} // namespace

void enter_private_world() {
    // While namespaces of other tests end, the kernel may hold the lock of all devices for more than 5 s.
    ::setenv("TEAMOCTL_TIMEOUT", "60", /*overwrite=*/0);
    if (::unshare(CLONE_NEWNS | CLONE_NEWPID) < 0) give_up("unshare");
    const pid_t init = ::fork();
    if (init < 0) give_up("fork");
    if (init > 0) end_like(init);

    // The first process of the new process namespace: when it ends, all the others do.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    keep_mounts_private();
    mount_anew("proc", "/proc");
    const pid_t test = ::fork();
    if (test < 0) give_up("fork");
    if (test > 0) end_like(test);
}

void furnish_world() {
    if (::unshare(CLONE_NEWNS | CLONE_NEWNET) < 0) give_up("unshare");
    keep_mounts_private();
    mount_anew("tmpfs", "/run");
    ::mkdir("/run/teamd", 0755);
    ::mkdir("/run/teamd-offload", 0755);
    mount_anew("sysfs", "/sys");
    mount_anew("bpf", "/sys/fs/bpf");
    if (!bring_loopback_up()) give_up("lo");
}

} // namespace teamo::test
