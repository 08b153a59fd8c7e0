// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What `teamo-bench serve` reads from its clients, and the files that `teamo-bench report` and others read.
// Both read back the same after they are written again.
//
// fuzz: -max_len=4096
#include "bench/json.h"
#include "bench/load/order.h"
#include "bench/text.h"
#include "require.h"
#include "json/parse.h"

using namespace teamo;
using namespace teamo::bench;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);

    if (const auto order = parse_order(text)) {
        auto line = text_of(*order);
        line.resize(line.find_first_of("\r\n"));
        require(line.size() < longest_order && parse_order(line) == order);
    }
    if (const auto document = json::parse(text)) {
        if (const auto results = from_json(*document)) {
            const auto again = from_json(to_json(*results));
            require(again.has_value() && *again == *results);
            static_cast<void>(results_text(*results));
        }
    }
    return 0;
}
