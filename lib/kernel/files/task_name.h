// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The name of a process as the kernel's statistics of tasks report it (linux/taskstats.h), which a mount
// option of /proc does not hide.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <string>

namespace teamo {

/// ESRCH: no such process; EPERM: CAP_NET_ADMIN is missing; ENOENT: a kernel without these statistics.
Result<std::string> read_task_name(pid_t process);

} // namespace teamo
