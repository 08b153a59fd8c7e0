// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/bpf/load_program.h"

#include <sched.h>

#include <thread>

namespace teamo {

int load_at_normal_priority(const std::function<int()>& load) {
    int error = 0;
    std::thread([&] {
        // A new thread has it already if the daemon is at SCHED_RR with SCHED_RESET_ON_FORK, as by the unit,
        // which refuses this call.
        const sched_param none{};
        static_cast<void>(::sched_setscheduler(0, SCHED_OTHER, &none)); // of this thread
        error = load();
    }).join();
    return error;
}

} // namespace teamo
