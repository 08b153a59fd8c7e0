// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <sys/types.h>

namespace teamo {

/// True if systemd is stopping the unit of this process only to start it again: systemctl restart, or a
/// package that is upgraded. False if systemd did not start this process, or does not answer.
bool is_unit_restarting();

/// The unit that a process belongs to, such as "teamd-offload@team0.service". For a child of another service
/// it is that service. Empty: none, or it is not known.
std::string unit_of_process(pid_t process);

} // namespace teamo
