// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The description of a packet on the command line gives an error text or a packet with a bucket.
// fuzz: -max_len=256
#include "ctl/packet/packet.h"

#include <cstdlib>
#include <sstream>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const auto fields = static_cast<HashFields>(bytes[0]);
    std::istringstream line(std::string(reinterpret_cast<const char*>(bytes + 1), size - 1));
    std::vector<std::string> words;
    for (std::string word; line >> word;)
        words.push_back(word);
    const auto packet = ctl::parse_packet(words);
    if (!packet) return packet.error().text.empty() ? std::abort(), 0 : 0;
    for (const auto& part : ctl::missing_parts(*packet, fields))
        if (part.empty()) std::abort();
    static_cast<void>(ctl::bucket_of(*packet, fields));
    return 0;
}
