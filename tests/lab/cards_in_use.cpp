// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/cards_in_use.h"

#include "lab/irq_files.h"
#include "lab/lab.h"
#include "support/daemon/process.h"
#include "support/net/net_ns.h"

#include <fmt/format.h>

namespace teamo::test {

std::vector<std::string> cards(unsigned count, unsigned first) {
    std::vector<std::string> names;
    for (unsigned number = first; number < first + count; ++number)
        names.push_back(fmt::format("eth{}", number));
    return names;
}

std::string config_of(const std::vector<std::string>& cards, const std::string& more,
                      const std::string& device) {
    std::string ports;
    for (const auto& card : cards)
        ports += fmt::format(R"({}"{}": {{}})", ports.empty() ? "" : ", ", card);
    return fmt::format(R"({{"device": "{}", "runner": {{"name": "roundrobin"}}, {}"ports": {{{}}}}})", device,
                       more, ports);
}

void CardsInUse::SetUp() {
    cards_ = cards(Lab::ports());
    far_.emplace(Lab::ports());
    std::string line;
    for (const auto& card : cards_)
        line += fmt::format("ip link set {} up; ", card);
    must(NetNs::current(), line);
    for (const auto& vector : vectors_of(cards_.front()))
        must(NetNs::current(), fmt::format("echo 0-1 > /proc/irq/{}/smp_affinity_list", vector.irq));
}

} // namespace teamo::test
