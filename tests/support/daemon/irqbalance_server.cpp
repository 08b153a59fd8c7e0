// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/daemon/irqbalance_server.h"

#include "support/daemon/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace teamo::test {

IrqBalanceServer::IrqBalanceServer(const std::string& directory, pid_t pid, std::set<unsigned> banned,
                                   std::size_t buffer)
    : path_(fmt::format("{}/irqbalance{}.sock", directory, pid)),
      buffer_(buffer),
      listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      end_(::eventfd(0, EFD_CLOEXEC)),
      banned_(banned.begin(), banned.end()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    const int on = 1;
    ::unlink(path_.c_str());
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0 ||
        ::setsockopt(listener_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
        ::listen(listener_.get(), 1) < 0)
        throw SetupError(path_ + ": " + std::strerror(errno));
    thread_ = std::thread([this] { serve(); });
}

IrqBalanceServer::~IrqBalanceServer() {
    ::eventfd_write(end_.get(), 1);
    thread_.join();
    listener_.reset();
    ::unlink(path_.c_str());
}

void IrqBalanceServer::set_banned(std::set<unsigned> banned) {
    const std::lock_guard guard(mutex_);
    banned_.assign(banned.begin(), banned.end());
}

std::set<unsigned> IrqBalanceServer::banned() const {
    const std::lock_guard guard(mutex_);
    return {banned_.begin(), banned_.end()};
}

void IrqBalanceServer::serve() {
    while (true) {
        std::array<pollfd, 2> waited{pollfd{end_.get(), POLLIN, 0}, pollfd{listener_.get(), POLLIN, 0}};
        const bool asleep = manner_ == Manner::asleep;
        ::poll(waited.data(), asleep ? 1 : 2, asleep ? 5 : 100);
        if (waited[0].revents != 0) return;
        if (manner_ == Manner::asleep || waited[1].revents == 0) continue;
        const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection) answer(connection.get());
    }
}

void IrqBalanceServer::answer(int connection) {
    std::string request(buffer_, '\0');
    iovec text{request.data(), request.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto size = ::recvmsg(connection, &message, 0);
    if (size < 0) return;
    request.resize(static_cast<std::size_t>(size));
    const auto* header = CMSG_FIRSTHDR(&message);
    ucred who{};
    who.uid = 1;
    if (header != nullptr && header->cmsg_type == SCM_CREDENTIALS)
        std::memcpy(&who, CMSG_DATA(header), sizeof who);
    if (who.uid != 0) knew_ = false;
    if (manner_ == Manner::silent) return;
    const auto reply = reply_to(request);
    ::send(connection, reply.data(), reply.size(), MSG_NOSIGNAL);
    while (manner_ == Manner::endless && ::send(connection, reply.data(), reply.size(), MSG_NOSIGNAL) > 0) {
    }
}

std::string IrqBalanceServer::reply_to(const std::string& request) {
    if (manner_ == Manner::garbage) return "TYPE 3 NUMBER 0 LOAD 0 SAVE_MODE 0 ";
    const std::lock_guard guard(mutex_);
    constexpr std::string_view ban = "settings ban irqs ";
    if (request.starts_with(ban)) {
        ++writes_;
        banned_.clear();
        const char* end = request.c_str() + ban.size();
        if (std::string_view(end).starts_with("NONE")) return "";
        char* next = nullptr;
        auto irq = std::strtoul(end, &next, 10);
        do {
            banned_.push_back(static_cast<unsigned>(irq));
        } while ((irq = std::strtoul(next, &next, 10)) != 0);
        return "";
    }
    std::string reply = "SLEEP 10 ";
    for (const auto irq : banned_)
        reply += fmt::format("IRQ {} LOAD 0 DIFF 0 CLASS 0 ", irq);
    return reply + "BANNED 00";
}

} // namespace teamo::test
