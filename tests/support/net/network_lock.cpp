// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/network_lock.h"

#include "support/net/net_ns.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <string_view>

namespace teamo::test {

bool await_free_network_lock(milliseconds patience, int looks) {
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    int quick = 0;
    const auto is_free = [&] {
        ifreq request{};
        std::string_view("lo").copy(request.ifr_name, sizeof request.ifr_name - 1);
        request.ifr_qlen = 1'000;
        const auto start = SteadyClock::now();
        ::ioctl(socket.get(), SIOCSIFTXQLEN, &request); // takes the lock (net/core/dev_ioctl.c)
        quick = SteadyClock::now() - start < 1ms ? quick + 1 : 0;
        return quick >= looks;
    };
    return static_cast<bool>(eventually("", is_free, patience));
}

} // namespace teamo::test
