// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames of the slow protocols, as partners may send them: read, and given to a system of three ports. The
// last byte, which no LACPDU uses, chooses the port.
//
// fuzz: -max_len=512
#include "lacp/system.h"

#include <algorithm>
#include <cstdint>

using namespace teamo;

namespace {

/// Ports that lead to two partners never carry together.
bool carries_rightly(const lacp::System& system, Clock::time_point now) {
    const auto& [distributing, collecting, falls_back] = system.carrying();
    const auto partner = [&](IfIndex port) { return system.status(port, now).partner; };
    for (const auto port : collecting)
        if (partner(port).system != partner(collecting.front()).system ||
            partner(port).key != partner(collecting.front()).key)
            return false;
    return std::ranges::all_of(distributing, [&collecting = collecting](IfIndex port) {
        return std::ranges::find(collecting, port) != collecting.end();
    });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static auto now = Clock::time_point(std::chrono::hours(1));
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto read = lacp::parse_frame(bytes);
    // What was read can be written and is read again.
    if (const auto* pdu = std::get_if<lacp::Lacpdu>(&read)) {
        auto again = *pdu;
        again.version = 1;
        if (lacp::parse_frame(lacp::build_frame(again, {})) != lacp::Received(again)) __builtin_trap();
    }
    static lacp::System system(lacp::Settings{.system = {.priority = 1, .address = {{2, 0, 0, 0, 0, 1}}}});
    std::vector<lacp::Link> links;
    for (std::uint8_t number = 1; number <= 3; ++number)
        links.push_back({.port = IfIndex{number}, .number = number, .up = true, .speed = 10'000});
    system.update(links, now);
    system.receive(links[size == 0 ? 0 : data[size - 1] % links.size()].port, bytes, now);
    // Long enough that an aggregate forms.
    for (int step = 0; step < 6; ++step, now += std::chrono::milliseconds(500)) {
        system.step(now);
        for (const auto& frame : system.due(now))
            system.note_result(frame, true, now);
        if (!carries_rightly(system, now)) __builtin_trap();
    }
    return 0;
}
