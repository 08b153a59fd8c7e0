// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Messages on the control socket, from both sides, and the list of refused teams. A parsed message that is
// written again reads back the same.
// fuzz: -max_len=4096
#include "control/refused_teams.h"
#include "control/state_document.h"
#include "control/usock_message.h"
#include "require.h"

using namespace teamo::control;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view message(reinterpret_cast<const char*>(bytes), size);

    const auto parsed = parse_request(message);
    if (const auto* request = std::get_if<Request>(&parsed)) {
        const auto again = encode(*request);
        require(again.size() > longest_request || parse_request(again) == parsed);
    }
    // A refusal is written as three lines, so one with another format reads back differently.
    if (const auto reply = parse_reply(message)) require(parse_reply(encode(*reply)).has_value());

    const auto refused = parse_refused_teams(message);
    require(parse_refused_teams(refused_teams_text(refused)) == refused);

    if (const auto names = split_item_path(message)) {
        require(!names->empty());
        for (const auto& name : *names)
            require(!name.empty());
    }
    return 0;
}
