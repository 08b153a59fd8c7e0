// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The answer of irqbalance and our next request: every IRQ in the request is from the answer or ours.
// fuzz: -max_len=4096
#include "require.h"
#include "runtime/shared_files.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    if (const auto asked = teamo::parse_bans_asked(text))
        require(*teamo::parse_bans_asked(teamo::text_of(*asked)) == *asked);

    const auto setup = teamo::parse_irqbalance_setup(text);
    if (!setup) return setup.error().text.empty() ? std::abort(), 0 : 0;
    const teamo::BannedIrqs ours{24, 25};
    const teamo::BansAsked asked{1, setup->banned, {{"team0", {25, 26}}}};
    const auto bans = teamo::bans_wanted(setup->banned, asked, "team0", ours);
    require(std::ranges::includes(bans, setup->banned) && std::ranges::includes(bans, ours));
    if (const auto request = teamo::ban_request(bans, ours)) {
        require(request->size() < 16384);
        // No number crosses the end of the buffer of an old irqbalance.
        require(request->size() <= 500 || (*request)[499] == ' ' || (*request)[500] == ' ');
    }
    return 0;
}
