// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/process.h"
#include "workers/processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace teamo::test {

/// A process that runs `action`; killed and reaped by the destructor. `action` gets a pipe to the test.
class Child {
public:
    template <class Action>
    explicit Child(Action action) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) < 0) throw SetupError("no pipe");
        word_.reset(ends[0]);
        UniqueFd said(ends[1]);
        pid_ = ::fork();
        if (pid_ < 0) throw SetupError("no process");
        if (pid_ > 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::_exit(action(said.get()));
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    pid_t pid() const { return pid_; }
    ProcessId id() const {
        const auto read = read_process(pid_);
        if (!read) throw SetupError(read.error().text);
        return read->worker.id;
    }
    /// Waits until the process has written a byte.
    void await_word() const {
        char word = 0;
        if (::read(word_.get(), &word, 1) != 1) throw SetupError("the child ended before it wrote a byte");
    }
    int wait() const {
        siginfo_t ended{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
        return ended.si_status;
    }

private:
    pid_t pid_ = 0;
    UniqueFd word_;
};

inline void say(int pipe) {
    if (::write(pipe, "x", 1) != 1) ::_exit(1);
}

} // namespace teamo::test
