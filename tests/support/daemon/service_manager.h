// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The service manager's end of $NOTIFY_SOCKET, with its store of descriptors.
#pragma once

#include "base/handle.h"
#include "support/daemon/process.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace teamo::test {

class ServiceManager {
public:
    ServiceManager() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "{}", path);
        if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
            throw SetupError("no notify socket");
        const timeval patience{.tv_sec = 0, .tv_usec = 10'000};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        // All the time: the kernel holds a sender back who has ten messages waiting.
        reader_ = std::jthread([this](const std::stop_token& end) {
            while (!end.stop_requested())
                take();
        });
    }
    /// Whether this message has arrived or arrives in time.
    bool received(std::string_view what, milliseconds patience = long_enough) {
        for (const auto start = SteadyClock::now();; std::this_thread::sleep_for(1ms)) {
            if (said().find(what) != std::string::npos) return true;
            if (since(start) > patience) return false;
        }
    }
    void forget() {
        const std::lock_guard lock(mutex_);
        said_.clear();
    }
    std::string said() const {
        const std::lock_guard lock(mutex_);
        return said_;
    }
    static std::vector<std::string> environment() { return {fmt::format("NOTIFY_SOCKET={}", path)}; }
    /// A command that starts this one with the descriptors of the store, as systemd does.
    std::vector<std::string> with_store(const std::vector<std::string>& command) const {
        const std::lock_guard lock(mutex_);
        std::string line, names;
        int number = 3;
        for (const auto& [name, fd] : store_) {
            line += fmt::format("exec {}<&{}; ", number++, fd.get());
            names += (names.empty() ? "" : ":") + name;
        }
        line +=
            fmt::format("LISTEN_PID=$$ LISTEN_FDS={} LISTEN_FDNAMES={} exec \"$@\"", store_.size(), names);
        std::vector<std::string> argv{"bash", "-c", line, "bash"};
        argv.insert(argv.end(), command.begin(), command.end());
        return argv;
    }
    static constexpr const char* path = "/run/notify";

private:
    void take() {
        std::array<char, 4096> buffer{};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        iovec into{.iov_base = buffer.data(), .iov_len = buffer.size()};
        msghdr message{};
        message.msg_iov = &into;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const auto size = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
        if (size <= 0) return;
        const std::lock_guard lock(mutex_);
        const std::string text(buffer.data(), static_cast<std::size_t>(size));
        said_ += text + "\n";
        constexpr std::string_view key = "FDNAME=";
        const auto at = text.find(key);
        if (at == std::string::npos) return;
        const auto name = text.substr(at + key.size(), text.find('\n', at) - at - key.size());
        const auto* part = CMSG_FIRSTHDR(&message);
        if (part == nullptr) {
            store_.erase(name);
            return;
        }
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
        const UniqueFd taken(fd);
        // Above those that the shell counts, and open in its process too.
        store_.insert_or_assign(name, UniqueFd(::fcntl(fd, F_DUPFD, 100)));
    }

    UniqueFd socket_;
    std::string said_;
    std::map<std::string, UniqueFd> store_;
    mutable std::mutex mutex_; ///< of the two
    std::jthread reader_;
};

} // namespace teamo::test
