// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace teamo::test {

/// Puts the test process into a process namespace of its own: whatever a test started, daemons that went
/// to the background too, ends with it. Returns in the process that is to run the tests; the processes
/// above it exit with its status.
void enter_private_world();

/// Gives the coming test case network and mount namespaces of its own, with a fresh /run, /sys and
/// /sys/fs/bpf: nothing of the machine is touched, nothing is left, several tests run side by side. The
/// network namespace is the host that the daemon runs on.
void furnish_world();

} // namespace teamo::test
