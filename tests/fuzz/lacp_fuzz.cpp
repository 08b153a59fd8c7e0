// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames of the slow protocols, as a partner may send them: read, and given to a system.
// fuzz: -max_len=512
#include "lacp/system.h"

#include <cstdint>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static auto now = Clock::time_point(std::chrono::hours(1));
    now += std::chrono::milliseconds(200); // fewer than the frames that are read in a second
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto read = lacp::parse_frame(bytes);
    // What was read can be written and is read again.
    if (const auto* pdu = std::get_if<lacp::Lacpdu>(&read)) {
        auto again = *pdu;
        again.version = 1;
        if (lacp::parse_frame(lacp::build_frame(again, {})) != lacp::Received(again)) __builtin_trap();
    }
    static lacp::System system(lacp::Settings{.system = {.priority = 1, .address = {{2, 0, 0, 0, 0, 1}}}});
    const IfIndex port{1};
    const std::array links{lacp::Link{.port = port, .number = 1, .up = true, .speed = 1000}};
    system.update(links, now);
    system.receive(port, bytes, now);
    system.step(now);
    for (const auto& frame : system.due(now))
        system.note_result(frame, true, now);
    if (system.carrying().distributing.size() > 1) __builtin_trap();
    return 0;
}
