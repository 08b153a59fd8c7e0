// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What passes between a guest and who serves it outside: requests and answers, each with its length before
// it. Who asked may be killed before the answer (a test's timeout), which then waits for the next one to open
// the port: an answer begins with its request's mark, and what comes before one's own is passed over.
#pragma once

#include "support/daemon/process.h"

#include <optional>
#include <string>
#include <string_view>

namespace teamo::test {

struct LabRequest {
    enum class Kind : char { shell = 'S', monitor = 'M' }; ///< a line for sh, or a command for QEMU (QMP)
    Kind kind;
    std::string text;
    std::string mark{}; ///< of send_request's making
};

// Both ways; none or false where the other side is gone or talks nonsense.

/// A request in one write, so that nobody leaves half of one; false where it is too long for that (30 KiB),
/// too. Gives it its mark.
bool send_request(int fd, LabRequest& request);
std::optional<LabRequest> receive_request(int fd);
/// Of an answer longer than 16 MiB only that it was.
bool send_answer(int fd, const std::string& mark, const Output& answer);
std::optional<Output> receive_answer(int fd, const std::string& mark);

/// Serves one guest until it is gone: `peer` and `monitor` are QEMU's sockets, `directory` where commands
/// run.
int serve_lab(const std::string& peer, const std::string& monitor, const std::string& directory);

/// Copies standard input to a port of the guest until it ends; all of it is outside when this returns.
int relay_to(const std::string& port);

/// All of it, or false.
bool write_all(int fd, std::string_view bytes);

} // namespace teamo::test
