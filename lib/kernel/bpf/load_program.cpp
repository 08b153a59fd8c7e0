// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/bpf/load_program.h"

#include <sched.h>

#include <thread>

namespace teamo {

int load_at_normal_priority(const std::function<int()>& load) {
    int error = 0;
    std::thread([&] {
        const sched_param none{};
        static_cast<void>(::sched_setscheduler(0, SCHED_OTHER, &none)); // of this thread
        error = load();
    }).join();
    return error;
}

} // namespace teamo
