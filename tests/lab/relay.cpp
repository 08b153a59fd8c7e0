// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/handle.h"
#include "lab/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace teamo::test {

int relay_to(const std::string& port) {
    const UniqueFd out(::open(port.c_str(), O_WRONLY | O_CLOEXEC));
    std::array<char, 32768> bytes{};
    ssize_t got = 0;
    while (out && (got = ::read(STDIN_FILENO, bytes.data(), bytes.size())) > 0)
        if (!write_all(out.get(), {bytes.data(), static_cast<std::size_t>(got)})) break;
    // A port becomes writable when QEMU has received all data (virtio_console.c: will_write_block); if the
    // guest is switched off earlier, the data is lost.
    pollfd taken{.fd = out.get(), .events = POLLOUT, .revents = 0};
    if (!out || got != 0 || ::poll(&taken, 1, -1) != 1) {
        std::perror(port.c_str());
        return 1;
    }
    return 0;
}

} // namespace teamo::test
