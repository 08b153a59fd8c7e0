// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace teamo::test {

/// Puts the test process into a PID namespace of its own: everything that a test started, including
/// background daemons, ends with it. Returns in the process that runs the tests; its parents exit with its
/// status.
void enter_private_world();

/// Gives the next test network and mount namespaces of its own, with a new /run, /sys and /sys/fs/bpf: a test
/// changes nothing on the machine and leaves nothing, and tests can run in parallel. The daemon runs in this
/// network namespace.
void furnish_world();

} // namespace teamo::test
