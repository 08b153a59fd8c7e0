// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/handle.h"
#include "lab/channel.h"
#include "support/eventually.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdio>

namespace teamo::test {
namespace {

UniqueFd connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return {};
    std::ranges::copy(path, std::begin(address.sun_path));
    UniqueFd socket;
    // QEMU creates its sockets while we start.
    const bool connected = static_cast<bool>(eventually(
        "",
        [&] {
            socket.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
            return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        },
        30s));
    return connected ? std::move(socket) : UniqueFd();
}

/// QEMU's monitor (docs/interop/qmp-spec.txt): one JSON object per line, with events in between.
class Monitor {
public:
    explicit Monitor(const std::string& path) : socket_(connect_to(path)) {
        if (socket_) ask(R"({"execute": "qmp_capabilities"})");
    }

    Output ask(const std::string& command) {
        const auto line = command + "\n";
        if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0)
            return {.status = 1, .out = {}, .err = "the monitor is gone"};
        while (auto answer = next_line()) {
            if (answer->find("\"return\"") != std::string::npos)
                return {.status = 0, .out = *answer, .err = {}};
            if (answer->find("\"error\"") != std::string::npos)
                return {.status = 1, .out = {}, .err = *answer};
        }
        return {.status = 1, .out = {}, .err = "the monitor is gone"};
    }

private:
    std::optional<std::string> next_line() {
        for (;;) {
            if (const auto end = waiting_.find('\n'); end != std::string::npos) {
                auto line = waiting_.substr(0, end);
                waiting_.erase(0, end + 1);
                return line;
            }
            std::array<char, 4096> bytes{};
            const auto got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
            if (got <= 0) return std::nullopt;
            waiting_.append(bytes.data(), static_cast<std::size_t>(got));
        }
    }

    UniqueFd socket_;
    std::string waiting_;
};

Output run_shell(const std::string& line) {
    try {
        return run({.argv = {"/bin/sh", "-c", line}}, std::chrono::minutes(10));
    } catch (const SetupError& error) {
        return {.status = 125, .out = {}, .err = error.what()};
    }
}

} // namespace

int serve_lab(const std::string& peer, const std::string& monitor, const std::string& directory) {
    const auto guest = connect_to(peer);
    Monitor qemu(monitor);
    if (!guest || ::chdir(directory.c_str()) < 0) {
        std::perror("teamo-lab serve");
        return 1;
    }
    while (const auto request = receive_request(guest.get())) {
        const auto answer =
            request->kind == LabRequest::Kind::monitor ? qemu.ask(request->text) : run_shell(request->text);
        if (!send_answer(guest.get(), request->mark, answer)) break;
    }
    return 0;
}

} // namespace teamo::test
