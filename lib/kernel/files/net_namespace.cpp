// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/net_namespace.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>

namespace teamo {
namespace {

Result<UniqueFd> open_namespace_of_thread() {
    UniqueFd fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!fd) return fail_errno(errno, "cannot open the network namespace");
    return fd;
}

Result<> bring_up_loopback() {
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::string_view("lo").copy(request.ifr_name, sizeof request.ifr_name - 1);
    request.ifr_flags = IFF_UP;
    if (!socket || ::ioctl(socket.get(), SIOCSIFFLAGS, &request) < 0)
        return fail_errno(errno, "cannot bring up lo");
    return {};
}

} // namespace

Result<NetNamespace> NetNamespace::create() {
    const Visit back(TEAMO_TRY(open_namespace_of_thread()));
    if (::unshare(CLONE_NEWNET) < 0) return fail_errno(errno, "cannot create a network namespace");
    TEAMO_TRY(bring_up_loopback());
    return NetNamespace(TEAMO_TRY(open_namespace_of_thread()));
}

Result<NetNamespace::Visit> NetNamespace::visit() const {
    Visit back(TEAMO_TRY(open_namespace_of_thread()));
    if (::setns(fd(), CLONE_NEWNET) < 0) return fail_errno(errno, "cannot enter a network namespace");
    return back;
}

NetNamespace::Visit::~Visit() {
    if (home_ && ::setns(home_.get(), CLONE_NEWNET) < 0)
        std::abort(); // the thread must not continue in the wrong namespace
}

} // namespace teamo
