// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/far_ends.h"

namespace teamo::test {

FarEnds::FarEnds(const Cabling& wires, std::uint16_t ethertype) {
    for (unsigned number = 1; number <= wires.ports(); ++number)
        sockets_.emplace_back(wires.peer(), Cabling::far_end(number), ethertype);
}

std::vector<std::vector<Seen>> FarEnds::drain(std::size_t expected,
                                              const std::function<bool(const Seen&)>& wanted,
                                              milliseconds silence) const {
    std::vector<std::vector<Seen>> frames(sockets_.size());
    std::size_t count = 0;
    auto latest = SteadyClock::now();
    while (since(latest) < (count < expected ? patient(long_enough) : silence)) {
        bool any = false;
        for (std::size_t number = 0; number < sockets_.size(); ++number)
            while (auto seen = sockets_[number].receive(0ms)) {
                if (!wanted(*seen)) continue;
                any = true;
                ++count;
                frames[number].push_back(std::move(*seen));
            }
        if (any)
            latest = SteadyClock::now();
        else
            std::this_thread::sleep_for(2ms);
    }
    return frames;
}

} // namespace teamo::test
