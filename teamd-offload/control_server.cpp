// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control_server.h"

#include "kernel/files/files.h"

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace teamo {
namespace {

constexpr std::size_t max_clients = 64;
constexpr int backlog = 10; // as teamd

Result<UniqueFd> listening(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return fail(ENAMETOOLONG, fmt::format("{}: path too long for a socket", path));
    std::ranges::copy(path, address.sun_path);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());

    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return fail_errno(errno, "control socket");
    // Before bind(), so that no other user can ever connect.
    ::fchmod(socket.get(), 0600);
    remove_file(path);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) < 0 ||
        ::chmod(path.c_str(), 0660) < 0) // regardless of the umask
        return fail_errno(errno, path);
    if (::listen(socket.get(), backlog) < 0) return fail_errno(errno, path);
    return socket;
}

/// All groups of the client when it connected.
std::vector<gid_t> groups_of(int socket, const ucred& peer) {
    std::vector<gid_t> groups(64);
    auto length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    int got = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
    if (got < 0 && errno == ERANGE) { // length is what it needs
        groups.resize(length / sizeof(gid_t));
        got = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
    }
    groups.resize(got < 0 ? 0 : length / sizeof(gid_t));
    groups.push_back(peer.gid);
    return groups;
}

/// Root and the user of the daemon may change the team; the group of the daemon may read.
control::Permission permission_of(int socket) {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return control::Permission::none;
    if (peer.uid == 0 || peer.uid == ::geteuid()) return control::Permission::change;
    const auto groups = groups_of(socket, peer);
    return std::ranges::find(groups, ::getegid()) != groups.end() ? control::Permission::read
                                                                  : control::Permission::none;
}

/// A record must fit into the send buffer as a whole, with the kernel's overhead.
void make_room(int socket, std::size_t bytes) {
    int now = 0;
    socklen_t length = sizeof now;
    ::getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &now, &length);
    const auto needed = static_cast<int>(std::min<std::size_t>(bytes + bytes / 2 + 65536, INT32_MAX / 2));
    if (now >= needed) return;
    if (::setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &needed, sizeof needed) < 0)
        ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &needed, sizeof needed);
}

} // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::listen(sd_event* loop, std::string path, const Log& log,
                                                             Answer answer) {
    auto socket = TEAMO_TRY(listening(path));
    std::unique_ptr<ControlServer> server(
        new ControlServer(loop, std::move(path), std::move(socket), log, std::move(answer)));
    server->io_ = TEAMO_TRY(Io::make(loop, server->socket_.get(), EPOLLIN, Priority::client,
                                     [raw = server.get()](std::uint32_t) { raw->accept(); }));
    return server;
}

ControlServer::~ControlServer() { remove_file(path_); }

void ControlServer::accept() {
    UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    if (clients_.size() >= max_clients)
        return log_(Level::warning, "too many control clients; refused a connection");
    const auto permission = permission_of(socket.get());
    if (permission == control::Permission::none)
        return log_(Level::warning, "refused a control client: it is not root, nor in the daemon's group");
    const int fd = socket.get();
    auto io = Io::make(loop_, fd, EPOLLIN, Priority::client,
                       [this, fd](std::uint32_t events) { serve(fd, events); });
    if (!io) return log_(Level::warning, io.error().text);
    clients_[fd] =
        Client{.socket = std::move(socket), .io = std::move(*io), .permission = permission, .unsent = {}};
}

void ControlServer::serve(int fd, std::uint32_t events) {
    const auto found = clients_.find(fd);
    if (found == clients_.end()) return;
    auto& client = found->second;
    const bool alive = client.unsent.empty() ? (events & EPOLLIN) != 0 && receive(client)
                                             : (events & EPOLLOUT) != 0 && send(client);
    if (!alive) clients_.erase(found);
}

bool ControlServer::receive(Client& client) {
    int size = 0;
    if (::ioctl(client.socket.get(), SIOCINQ, &size) < 0 || size < 0) return false;
    std::string message(std::min<std::size_t>(static_cast<std::size_t>(size), control::longest_request) + 1,
                        '\0');
    const auto got = ::recv(client.socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    control::Reply reply = control::Refusal{.code = "InvalidArgs", .message = "The request is too long."};
    if (static_cast<std::size_t>(got) <= std::min(message.size(), control::longest_request)) {
        message.resize(static_cast<std::size_t>(got));
        const auto request = control::parse_request(message);
        const auto* refused = std::get_if<control::Refusal>(&request);
        if (refused != nullptr)
            reply = *refused;
        else if (const auto& asked = std::get<control::Request>(request);
                 control::needed_for(asked) > client.permission)
            reply = control::Refusal{.code = "AccessDenied", .message = "Only root may do this."};
        else
            reply = answer_(asked);
    }
    client.unsent = control::encode(reply);
    make_room(client.socket.get(), client.unsent.size());
    return send(client);
}

/// False: the client is gone, or its socket cannot take the reply at all.
bool ControlServer::send(Client& client) {
    const auto sent =
        ::send(client.socket.get(), client.unsent.data(), client.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    const bool waits = sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR);
    client.io->set_events(waits ? EPOLLOUT : EPOLLIN);
    if (!waits) client.unsent.clear();
    return waits || sent >= 0;
}

} // namespace teamo
