// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LLDPDUs, as whatever is at the other end of a cable may send them.
#include "lldp/lldpdu.h"
#include "require.h"

#include <algorithm>

using namespace teamo;

namespace {

bool is_printable(const std::string& text) {
    return std::ranges::all_of(text, [](char letter) { return letter >= ' ' && letter <= '~'; });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static auto now = Clock::time_point(std::chrono::hours(1));
    static lldp::Neighbours neighbours;
    now += std::chrono::seconds(1);
    const auto pdu = lldp::parse_frame(std::as_bytes(std::span(data, size)));
    if (!pdu) return 0;
    require(is_printable(pdu->system_name) && pdu->system_name.size() <= 255);
    neighbours.note(*pdu, size % 2, now);
    const auto nearest = neighbours.nearest(now);
    require(nearest.is_known() != nearest.id.empty());
    require(is_printable(nearest.id) && is_printable(nearest.port));
    return 0;
}
