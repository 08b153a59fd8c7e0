// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/net_ns.h"

#include "support/daemon/process.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace teamo::test {
namespace {

UniqueFd open_own() {
    UniqueFd fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!fd) throw SetupError(fmt::format("cannot open the network namespace: {}", std::strerror(errno)));
    return fd;
}

void need_no_duplicate_detection() {
    for (const auto* scope : {"all", "default"})
        std::ofstream(fmt::format("/proc/sys/net/ipv6/conf/{}/accept_dad", scope)) << 0;
}

} // namespace

bool bring_loopback_up() {
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP;
    return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

NetNs NetNs::current() { return NetNs(open_own()); }

NetNs NetNs::create() {
    const UniqueFd home = open_own();
    if (::unshare(CLONE_NEWNET) < 0)
        throw SetupError(fmt::format("cannot create a network namespace: {}", std::strerror(errno)));
    UniqueFd made = open_own();
    if (!bring_loopback_up()) throw SetupError(fmt::format("cannot bring lo up: {}", std::strerror(errno)));
    need_no_duplicate_detection();
    if (::setns(home.get(), CLONE_NEWNET) < 0)
        throw SetupError(fmt::format("cannot return to the former namespace: {}", std::strerror(errno)));
    return NetNs(std::move(made));
}

NetNs::Visit::Visit(int to) : home_(open_own()) {
    if (::setns(to, CLONE_NEWNET) < 0)
        throw SetupError(fmt::format("cannot enter a network namespace: {}", std::strerror(errno)));
}

NetNs::Visit::~Visit() {
    if (::setns(home_.get(), CLONE_NEWNET) < 0)
        std::abort(); // the thread must not continue in the wrong namespace
}

std::string NetNs::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd()); }

void NetNs::ip(std::string_view lines) const {
    const auto done = run({.argv = {"ip", "-batch", "-"}, .in = this, .input = std::string(lines) + "\n"});
    if (done.status != 0) throw SetupError(fmt::format("ip refused:\n{}\nin\n{}", done.err, lines));
}

} // namespace teamo::test
