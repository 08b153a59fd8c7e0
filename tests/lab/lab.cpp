// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/lab.h"

#include "base/handle.h"
#include "lab/channel.h"
#include "support/eventually.h"

#include <fcntl.h>

#include <cstdlib>

namespace teamo::test {
namespace {

constexpr const char* port_to_outside = "/dev/virtio-ports/teamo.peer";

Output ask(LabRequest request) {
    UniqueFd port;
    // Only one process at a time can open it (drivers/char/virtio_console.c: EBUSY).
    const bool opened = static_cast<bool>(eventually(
        "",
        [&] {
            port.reset(::open(port_to_outside, O_RDWR | O_CLOEXEC));
            return static_cast<bool>(port) || errno != EBUSY;
        },
        60s));
    if (!opened || !port)
        throw SetupError(std::string("the lab's peers cannot be asked: ") + port_to_outside);
    if (!send_request(port.get(), request))
        throw SetupError("the lab's server does not run, or the command is longer than 30 KiB");
    auto answer = receive_answer(port.get(), request.mark);
    if (!answer) throw SetupError("the lab's server does not answer");
    return std::move(*answer);
}

void set_link(unsigned number, bool up) {
    const auto answer =
        ask({.kind = LabRequest::Kind::monitor,
             .text = fmt::format(R"({{"execute": "set_link", "arguments": {{"name": "port{}", "up": {}}}}})",
                                 number, up)});
    if (answer.status != 0)
        throw SetupError(fmt::format("no cable {}: the guest has ports 0 to {}: {}", number, Lab::ports() - 1,
                                     answer.err));
}

} // namespace

bool Lab::present() { return std::getenv("TEAMO_LAB") != nullptr; }

bool Lab::at_length() { return std::getenv("TEAMO_LONG") != nullptr; }

unsigned Lab::ports() {
    const char* number = std::getenv("TEAMO_LAB_PORTS");
    return number == nullptr ? 0 : static_cast<unsigned>(std::strtoul(number, nullptr, 10));
}

Output Lab::peer(const std::string& command) {
    return ask({.kind = LabRequest::Kind::shell, .text = command});
}

std::string Lab::must_peer(const std::string& command) {
    auto answer = peer(command);
    if (answer.status != 0) throw SetupError("outside: " + command + ": " + answer.err + answer.out);
    return std::move(answer.out);
}

void Lab::pull(unsigned number) { set_link(number, false); }
void Lab::plug(unsigned number) { set_link(number, true); }

} // namespace teamo::test
