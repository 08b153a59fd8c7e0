// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The protocol between a guest and its server outside: requests and replies, each preceded by its length. A
// client may be killed before the reply arrives (a test's timeout); the next one that opens the port then
// reads it. So a reply starts with the mark of its request, and a client skips everything before its own
// mark.
#pragma once

#include "support/daemon/process.h"

#include <optional>
#include <string>
#include <string_view>

namespace teamo::test {

struct LabRequest {
    enum class Kind : char { shell = 'S', monitor = 'M' }; ///< a command for sh, or for QEMU (QMP)
    Kind kind;
    std::string text;
    std::string mark{}; ///< set by send_request
};

// None or false if the other side is gone or its message is invalid.

/// Sends a request in one write, so that a killed client leaves no half request; also false if it is longer
/// than 30 KiB. Sets its mark.
bool send_request(int fd, LabRequest& request);
std::optional<LabRequest> receive_request(int fd);
/// A reply longer than 16 MiB is replaced by an error.
bool send_answer(int fd, const std::string& mark, const Output& answer);
std::optional<Output> receive_answer(int fd, const std::string& mark);

/// Serves one guest until it ends. `peer` and `monitor` are QEMU's sockets; commands run in `directory`.
int serve_lab(const std::string& peer, const std::string& monitor, const std::string& directory);

/// Copies standard input to a port of the guest until its end. When this returns, QEMU has received
/// everything.
int relay_to(const std::string& port);

/// Writes everything, or returns false.
bool write_all(int fd, std::string_view bytes);

} // namespace teamo::test
