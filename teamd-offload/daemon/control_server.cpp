// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/control_server.h"

#include "kernel/files/files.h"

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <vector>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr int backlog = 10; // as teamd
constexpr auto without_descriptors = 100ms;
constexpr auto least_pause = 5ms; // so that pausing itself costs little
constexpr auto quiet = 1min;      // between two equal warnings

std::chrono::nanoseconds used_cpu_time() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

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
    server->listening_again_ =
        TEAMO_TRY(Timer::make(loop, [raw = server.get()] { raw->io_->set_events(EPOLLIN); }));
    server->resume_ = TEAMO_TRY(Timer::make(loop, [raw = server.get()] { raw->resume(); }));
    return server;
}

ControlServer::~ControlServer() { remove_file(path_); }

/// Root and the user of the daemon may change the team; the group of the daemon may read.
ControlServer::Peer ControlServer::peer_of(int socket) {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return {};
    if (peer.uid == 0 || peer.uid == ::geteuid())
        return {.user = peer.uid, .permission = control::Permission::change};
    const auto groups = groups_of(socket, peer);
    const bool member = std::ranges::find(groups, ::getegid()) != groups.end();
    return {.user = peer.uid, .permission = member ? control::Permission::read : control::Permission::none};
}

void ControlServer::accept() {
    const auto begun = used_cpu_time();
    UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
        if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
        // The client still waits, so the loop would come here again at once.
        warn(fmt::format("cannot accept control clients: {}", errno_text(errno)));
        return pause_listening(Clock::now() + without_descriptors);
    }
    const auto peer = peer_of(socket.get());
    admit(std::move(socket), peer);
    if (peer.permission == control::Permission::change) return;
    const auto now = Clock::now();
    connecting_.spend(used_cpu_time() - begun, now);
    if (connecting_.ready() > now) pause_listening(std::max(connecting_.ready(), now + least_pause));
}

/// Takes the client, or closes its connection.
void ControlServer::admit(UniqueFd socket, const Peer& peer) {
    if (peer.permission == control::Permission::none)
        return warn("refused a control client: it is not root, nor in the daemon's group");
    const int fd = socket.get();
    auto io = Io::make(loop_, fd, EPOLLIN, Priority::client,
                       [this, fd](std::uint32_t events) { serve(fd, events); });
    if (!io) return warn(io.error().text);
    if (!has_place(peer)) return;
    clients_[fd] = Client{.socket = std::move(socket), .io = std::move(*io), .peer = peer, .unsent = {}};
}

bool ControlServer::has_place(const Peer& peer) {
    if (clients_.size() >= control::max_clients) {
        warn("too many control clients; refused a connection");
        return false;
    }
    if (!peer.is_reader()) return true;
    using Place = control::Readers::Place;
    const auto place = readers_.enter(peer.user, Clock::now());
    if (place == Place::given) return true;
    warn(place == Place::too_many ? "too many control clients that are not root; refused a connection"
                                  : "too many control clients of one user; refused a connection",
         fmt::format("user {}: ", peer.user));
    return false;
}

void ControlServer::pause_listening(Clock::time_point until) {
    io_->set_events(0);
    listening_again_->at(until);
}

void ControlServer::serve(int fd, std::uint32_t events) {
    const auto found = clients_.find(fd);
    if (found == clients_.end()) return;
    auto& client = found->second;
    const auto peer = client.peer;
    const auto begun = used_cpu_time();
    bool alive = false;
    if (!client.unsent.empty())
        alive = (events & EPOLLOUT) != 0 && send(client);
    else if (is_paused(client)) // its requests wait; they change nothing, so none is done for who has gone
        alive = (events & EPOLLHUP) == 0;
    else
        alive = (events & EPOLLIN) != 0 && receive(client);
    const auto served = used_cpu_time();
    if (peer.is_reader()) readers_.spend(peer.user, served - begun, Clock::now());
    if (alive) return await_events(client);
    clients_.erase(found);
    if (!peer.is_reader()) return;
    readers_.leave(peer.user, Clock::now());
    connecting_.spend(used_cpu_time() - served, Clock::now());
}

bool ControlServer::is_paused(const Client& client) const {
    return client.peer.is_reader() && readers_.ready(client.peer.user) > Clock::now();
}

void ControlServer::await_events(Client& client) {
    if (!client.unsent.empty()) return client.io->set_events(EPOLLOUT);
    if (!is_paused(client)) return client.io->set_events(EPOLLIN);
    client.io->set_events(0); // EPOLLHUP comes nevertheless
    const auto until = std::max(readers_.ready(client.peer.user), Clock::now() + least_pause);
    if (resume_at_ && *resume_at_ <= until) return;
    resume_at_ = until;
    resume_->at(until);
}

/// Those who still have to wait set the timer again.
void ControlServer::resume() {
    resume_at_.reset();
    for (auto& [fd, client] : clients_)
        await_events(client);
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
                 control::needed_for(asked) > client.peer.permission)
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
    if (!waits) client.unsent.clear();
    return waits || sent >= 0;
}

/// For what a client can cause as often as it likes.
void ControlServer::warn(const std::string& text, std::string_view prefix) {
    if (const auto now = Clock::now(); now >= warned_until_) {
        warned_.clear();
        warned_until_ = now + quiet;
    }
    warned_[text](log_, Level::warning, prefix, text);
}

} // namespace teamo
