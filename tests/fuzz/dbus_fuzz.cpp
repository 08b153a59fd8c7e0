// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A method and its arguments as D-Bus gives them, one a line; and a port's configuration, which is one of
// them.
// fuzz: -max_len=1024
#include "config/config_file.h"
#include "control/usock_message.h"

#include <cstdlib>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(bytes), size);
    static_cast<void>(parse_port_configuration(text));
    std::vector<std::string> words;
    while (!text.empty() && words.size() < 16) {
        const auto end = std::min(text.find('\n'), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (words.empty()) return 0;
    const auto method = words.front();
    words.erase(words.begin());
    const auto made = control::make_request(method, words);
    const auto* request = std::get_if<control::Request>(&made);
    if (request == nullptr) return 0;
    const auto [shape, arguments] = control::parts_of(*request);
    if (shape.name != method || arguments.size() != shape.arguments) std::abort();
    if (control::make_request(shape.name, arguments) != made) std::abort();
    return 0;
}
