// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The lab's program: outside it serves a guest, in the guest it is the client for shell scripts.
#include "lab/channel.h"
#include "lab/lab.h"
#include "lab/numbered.h"
#include "lab/tsc.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

namespace {

int usage() {
    fmt::print(stderr, "usage: teamo-lab peer COMMAND…      run it outside, where the cables end\n"
                       "       teamo-lab cable pull|plug N  of port ethN\n");
    return 2;
}

int ask(const std::vector<std::string_view>& words) {
    using teamo::test::Lab;
    if (words.size() >= 2 && words[0] == "peer") {
        std::string line;
        for (std::size_t index = 1; index < words.size(); ++index)
            line.append(index > 1 ? " " : "").append(words[index]);
        const auto answer = Lab::peer(line);
        fmt::print("{}", answer.out);
        fmt::print(stderr, "{}", answer.err);
        return answer.status;
    }
    if (words.size() != 3 || words[0] != "cable" || (words[1] != "pull" && words[1] != "plug"))
        return usage();
    unsigned number = 0;
    const auto* end = words[2].data() + words[2].size();
    if (std::from_chars(words[2].data(), end, number).ptr != end) return usage();
    if (words[1] == "pull")
        Lab::pull(number);
    else
        Lab::plug(number);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    try {
        if (words.size() == 4 && words[0] == "serve")
            return teamo::test::serve_lab(std::string(words[1]), std::string(words[2]),
                                          std::string(words[3]));
        if (words.size() == 2 && words[0] == "count")
            return teamo::test::count_numbers(static_cast<std::uint16_t>(std::stoul(std::string(words[1]))));
        if (words.size() == 1 && words[0] == "tsc") {
            fmt::print("{}\n", teamo::test::tsc_khz());
            return 0;
        }
        if (words.size() == 2 && words[0] == "relay") return teamo::test::relay_to(std::string(words[1]));
        return ask(words);
    } catch (const std::exception& error) {
        fmt::print(stderr, "teamo-lab: {}\n", error.what());
        return 125;
    }
}
