// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/replace/tcp_counters.h"

#include "base/take_until.h"
#include "base/whole_number.h"

namespace teamo::ctl {

std::uint64_t parse_tcp_counter(std::string_view snmp, std::string_view counter) {
    while (!snmp.empty()) {
        auto names = take_until(snmp, "\n"), numbers = take_until(snmp, "\n");
        if (take_until(names, " ") != "Tcp:" || take_until(numbers, " ") != "Tcp:") continue;
        while (!names.empty())
            if (const auto number = take_until(numbers, " "); take_until(names, " ") == counter)
                return whole_number<std::uint64_t>(number).value_or(0);
    }
    return 0;
}

} // namespace teamo::ctl
