// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/descriptor_reader.h"

#include "base/handle.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

namespace teamo {
namespace {

constexpr std::uint8_t listening = 10; // net/tcp_states.h: TCP_LISTEN

template <class Value>
bool ask(int socket, int level, int option, Value& value) {
    socklen_t size = sizeof value;
    return ::getsockopt(socket, level, option, &value, &size) == 0;
}

/// None for a socket that is not TCP, and for one that listens.
std::optional<SocketTraffic> tcp_traffic(int socket) {
    int protocol = 0, family = 0, cpu = -1;
    unsigned napi = 0;
    std::uint64_t cookie = 0;
    tcp_info info{};
    if (!ask(socket, SOL_SOCKET, SO_PROTOCOL, protocol) || protocol != IPPROTO_TCP ||
        !ask(socket, SOL_SOCKET, SO_DOMAIN, family) || (family != AF_INET && family != AF_INET6) ||
        !ask(socket, IPPROTO_TCP, TCP_INFO, info) || info.tcpi_state == listening ||
        !ask(socket, SOL_SOCKET, SO_COOKIE, cookie))
        return std::nullopt;
    SocketTraffic traffic{
        .cookie = cookie, .bytes = info.tcpi_bytes_received, .packets = info.tcpi_data_segs_in};
    if (ask(socket, SOL_SOCKET, SO_INCOMING_CPU, cpu) && cpu >= 0) traffic.cpu = static_cast<unsigned>(cpu);
    if (ask(socket, SOL_SOCKET, SO_INCOMING_NAPI_ID, napi)) traffic.napi = napi;
    return traffic;
}

/// The result for one process.
struct ProcessResult {
    std::size_t seen = 0; ///< descriptors
    int refused = 0;      ///< errno if its descriptors may not be duplicated
};

ProcessResult read_process_sockets(pid_t pid, std::vector<SocketTraffic>& sockets) {
    ProcessResult result;
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process) return {.refused = errno == ESRCH ? 0 : errno};
    std::set<std::uint64_t> known; // a process may have several descriptors of one socket
    result.seen = each_socket(pid, [&](int number, std::uint64_t inode) {
        if (!known.insert(inode).second) return true;
        const UniqueFd socket(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
        if (!socket && (errno == EPERM || errno == ENOSYS)) {
            result.refused = errno;
            return false;
        }
        auto traffic = socket ? tcp_traffic(socket.get()) : std::nullopt;
        if (!traffic) return true;
        traffic->process = pid;
        sockets.push_back(*traffic);
        return true;
    });
    return result;
}

} // namespace

Result<std::vector<SocketTraffic>> read_descriptors() {
    std::vector<SocketTraffic> sockets;
    std::size_t seen = 0;
    int refused = 0;
    for (const auto pid : sysfs::numbers_in("/proc")) {
        if (seen >= most_descriptors) break;
        const auto result = read_process_sockets(static_cast<pid_t>(pid), sockets);
        seen += result.seen;
        if (result.refused != 0) refused = result.refused;
        if (refused == ENOSYS) break;
    }
    // Some processes can never be traced. Report an error only if no socket was found and a process refused.
    if (sockets.empty() && refused != 0) return fail_errno(refused, "cannot read the sockets of processes");
    return sockets;
}

} // namespace teamo
