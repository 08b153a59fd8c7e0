// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/socket_store.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

namespace teamo {
namespace {

/// The network namespace of a socket; none before Linux 5.14.
std::optional<std::uint64_t> namespace_of(int socket) {
    std::uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    if (::getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) < 0) return std::nullopt;
    return cookie;
}

/// By all that have this name.
void remove_kept(const std::string& name) { sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", name.c_str()); }

} // namespace

SocketStore::SocketStore() {
    char** names = nullptr;
    const int count = sd_listen_fds_with_names(/*unset_environment=*/1, &names);
    const UniqueFd any(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto here = namespace_of(any.get());
    for (int number = 0; number < count; ++number) {
        UniqueFd kept(SD_LISTEN_FDS_START + number);
        if (namespace_of(kept.get()) == here) earlier_.insert_or_assign(names[number], std::move(kept));
        std::free(names[number]); // NOLINT(cppcoreguidelines-no-malloc): sd-daemon's
    }
    std::free(static_cast<void*>(names)); // NOLINT(cppcoreguidelines-no-malloc)
}

void SocketStore::drop(Sockets sockets) {
    if (sockets.empty()) return;
    for (const auto& [name, fd] : sockets)
        remove_kept(name);
    std::thread([dropped = std::move(sockets)] {
        constexpr std::chrono::microseconds patience = std::chrono::seconds(1);
        sd_notify_barrier(0, static_cast<std::uint64_t>(patience.count()));
    }).detach();
}

void SocketStore::Forget::operator()(PortSocket* socket) const {
    const std::unique_ptr<PortSocket> owned(socket);
    if (store == nullptr || store->keeps_) return;
    if (store->starts_) { // of a start that has failed
        store->earlier_.insert_or_assign(name, owned->release());
        return;
    }
    Sockets sockets;
    sockets.emplace(name, owned->release());
    drop(std::move(sockets));
}

Result<SocketStore::Socket> SocketStore::open(IfIndex device, std::string_view use,
                                              const PortSocket::What& what) {
    const auto name = fmt::format("{}-{}", use, device.value);
    auto kept = earlier_.extract(name);
    auto taken = kept.empty() ? fail(ENOENT, name) : PortSocket::take(std::move(kept.mapped()), device, what);
    const bool is_new = !taken;
    if (is_new) {
        if (!kept.empty()) remove_kept(name); // the index is another device's now
        taken = TEAMO_TRY(PortSocket::open(device, what));
    }
    Socket socket(new PortSocket(std::move(*taken)), {.store = this, .name = name, .is_earlier = !is_new});
    // FDPOLL=0: a device that goes down for a moment would end it otherwise.
    const int fd = socket->fd();
    if (is_new)
        sd_pid_notify_with_fds(0, 0, fmt::format("FDSTORE=1\nFDNAME={}\nFDPOLL=0", name).c_str(), &fd, 1);
    return socket;
}

void SocketStore::drop_rest() {
    starts_ = false;
    drop(std::exchange(earlier_, {}));
}

} // namespace teamo
