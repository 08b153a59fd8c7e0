// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What comes over the control socket, from either side. What was understood must survive being written and
// read again.
#include "control/state_document.h"
#include "control/usock_message.h"

#include <cstdlib>

using namespace teamo::control;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view message(reinterpret_cast<const char*>(bytes), size);

    const auto parsed = parse_request(message);
    if (const auto* request = std::get_if<Request>(&parsed)) {
        const auto again = encode(*request);
        require(again.size() > longest_request || parse_request(again) == parsed);
    }
    // A refusal is always three lines, so only what has them comes back the same.
    if (const auto reply = parse_reply(message)) require(parse_reply(encode(*reply)).has_value());

    if (const auto names = split_item_path(message)) {
        require(!names->empty());
        for (const auto& name : *names)
            require(!name.empty());
    }
    return 0;
}
