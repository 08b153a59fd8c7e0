// SPDX-License-Identifier: LGPL-2.1-or-later
//
// fuzz_seeds CORPUS: gives each fuzzer the files of its folder. So a parser or a check that fails for one of
// them fails in each test run, not only in `./quickstart fuzz`.
#include "all_fuzzers.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

int main(int, char** arguments) {
    for (const auto& [name, run] : fuzzers) {
        const std::filesystem::directory_iterator folder(std::filesystem::path(arguments[1]) / name);
        const std::set<std::filesystem::path> seeds(begin(folder), end(folder));
        require(!seeds.empty());
        for (const auto& seed : seeds) {
            fmt::print("{}\n", seed.native());
            std::fflush(stdout);
            std::ifstream file(seed, std::ios::binary);
            const std::string text(std::istreambuf_iterator<char>(file), {});
            // Exactly as long as the input: the sanitizer sees each byte read beyond it.
            const std::vector<std::uint8_t> bytes(text.begin(), text.end());
            run(bytes.data(), bytes.size());
        }
    }
    return 0;
}
