// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/client.h"

#include "base/clock.h"
#include "json/parse.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

namespace teamo::control {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return fail(ENAMETOOLONG, fmt::format("{}: too long for a socket's path", path));
    std::ranges::copy(path, std::begin(address.sun_path));
    return address;
}

/// The kernel's default allows messages of up to 208 KiB minus overhead. SO_SNDBUFFORCE, for root, has no
/// limit.
void make_room(int socket, std::size_t size) {
    const auto wanted = static_cast<int>(std::min(size, longest_request) + 4096);
    int present = 0;
    socklen_t length = sizeof present;
    if (::getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &present, &length) == 0 && present / 2 >= wanted) return;
    if (::setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof wanted) < 0)
        static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted));
}

Result<> wait_for(int socket, short event, Clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd watched{.fd = socket, .events = event, .revents = 0};
        const int ready = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (ready > 0) return {};
        if (ready == 0) return fail(ETIMEDOUT, "the daemon does not answer in time");
        if (errno != EINTR) return fail_errno(errno, "cannot wait for the daemon");
    }
}

Result<> send_message(int socket, std::string_view message, Clock::time_point deadline) {
    make_room(socket, message.size());
    for (;;) {
        if (::send(socket, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
        if (errno == EPIPE || errno == ECONNRESET) return fail(errno, "the daemon has closed the connection");
        if (errno != EAGAIN && errno != EINTR) return fail_errno(errno, "cannot send to the daemon");
        TEAMO_TRY(wait_for(socket, POLLOUT, deadline));
    }
}

Result<std::string> receive_message(int socket, Clock::time_point deadline) {
    TEAMO_TRY(wait_for(socket, POLLIN, deadline));
    // recv() cuts a record to the buffer's size, so ask for its size first.
    int waiting = 0;
    if (::ioctl(socket, SIOCINQ, &waiting) < 0)
        return fail_errno(errno, "cannot get the size of the daemon's reply");
    std::string message(static_cast<std::size_t>(std::max(waiting, 1)), '\0');
    ssize_t size = 0;
    do
        size = ::recv(socket, message.data(), message.size(), MSG_DONTWAIT);
    while (size < 0 && errno == EINTR);
    if (size < 0) return fail_errno(errno, "cannot receive from the daemon");
    if (size == 0) return fail(ECONNRESET, "the daemon has closed the connection");
    message.resize(static_cast<std::size_t>(size));
    return message;
}

Result<Reply> exchange(sd_bus* bus, const std::string& name, const Request& request,
                       std::chrono::microseconds patience) {
    const auto [method, arguments] = parts_of(request);
    sd_bus_message* made = nullptr;
    int error = sd_bus_message_new_method_call(bus, &made, name.c_str(), teamd_path, teamd_interface,
                                               method.name.c_str());
    const BusMessage call(made);
    for (const auto& argument : arguments)
        if (error >= 0) error = sd_bus_message_append(made, "s", argument.c_str());
    if (error < 0) return fail_errno(-error, "cannot make a D-Bus message");
    sd_bus_error refused = SD_BUS_ERROR_NULL;
    sd_bus_message* answer = nullptr;
    error = sd_bus_call(bus, made, static_cast<std::uint64_t>(patience.count()), &refused, &answer);
    const BusMessage owned(answer);
    if (error < 0) {
        Refusal refusal{.code = refused.name == nullptr ? "" : refused.name,
                        .message = refused.message == nullptr ? errno_text(-error) : refused.message};
        sd_bus_error_free(&refused);
        if (constexpr std::string_view prefix = teamd_interface; refusal.code.starts_with(prefix))
            refusal.code.erase(0, prefix.size());
        return Reply(std::move(refusal));
    }
    const char* text = "";
    if (method.has_result && (error = sd_bus_message_read(answer, "s", &text)) < 0)
        return fail_errno(-error, "the daemon's answer is not a valid reply of teamd's protocol");
    return Reply(std::string(text));
}

Result<Reply> exchange(int socket, const Request& request, Clock::time_point deadline) {
    TEAMO_TRY(send_message(socket, encode(request), deadline));
    auto reply = parse_reply(TEAMO_TRY(receive_message(socket, deadline)));
    if (!reply) return fail(EPROTO, "the daemon's answer is not a valid reply of teamd's protocol");
    return std::move(*reply);
}

} // namespace

Result<Client> Client::connect(std::string_view team, std::string_view run_directory) {
    const auto path = fmt::format("{}/{}.sock", run_directory, team);
    const auto address = TEAMO_TRY(address_of(path));
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket) return fail_errno(errno, "cannot create a unix socket");

    // Limits the wait in connect() while the daemon's backlog is full.
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) {
        if (errno == ENOENT || errno == ECONNREFUSED)
            return fail(errno, fmt::format("no daemon listens at {}", path));
        if (errno == EAGAIN)
            return fail(ETIMEDOUT,
                        fmt::format("{}: the daemon does not accept the connection in time", path));
        if (errno == EACCES)
            return fail(EACCES, fmt::format("{}: only root and the group of the daemon may connect", path));
        return fail_errno(errno, fmt::format("cannot connect to {}", path));
    }
    return Client(std::move(socket));
}

Result<Client> Client::connect_by_bus(const std::string& team) {
    auto bus = TEAMO_TRY(open_system_bus());
    auto name = TEAMO_TRY(teamd_name(team));
    if (sd_bus_get_name_creds(bus.get(), name.c_str(), 0, nullptr) < 0)
        return fail(ENOENT, fmt::format("no daemon has the D-Bus name {}", name));
    return Client(std::move(bus), std::move(name));
}

Result<Reply> Client::call(const Request& request, std::chrono::milliseconds patience) {
    if (bus_) return exchange(bus_.get(), name_, request, patience);
    if (!socket_) return fail(ENOTCONN, "the connection was closed after an earlier failure");
    auto reply = exchange(socket_.get(), request, Clock::now() + patience);
    // A late reply would be taken for the reply to the next request.
    if (!reply) socket_.reset();
    return reply;
}

Result<std::string> Client::text(const Request& request, std::chrono::milliseconds patience) {
    auto reply = TEAMO_TRY(call(request, patience));
    auto* refusal = std::get_if<Refusal>(&reply);
    if (refusal == nullptr) return std::get<std::string>(std::move(reply));
    if (refusal->message.ends_with('.')) refusal->message.pop_back();
    if (refusal->code == "UnknownMethod")
        return fail(ENOTSUP, fmt::format("{} ({}): {}", refusal->message, refusal->code, of_another_version));
    return fail(EINVAL, fmt::format("{} ({})", refusal->message, refusal->code));
}

Result<json::Value> Client::document(const Request& request, std::chrono::milliseconds patience) {
    /// A state of a thousand ports with all their LACPDUs is 1.6 MB.
    constexpr json::Limits reply_limits{.bytes = std::size_t{64} << 20, .depth = 256};
    const auto written = TEAMO_TRY(text(request, patience));
    auto value = json::parse(written, reply_limits);
    if (!value)
        return fail(EPROTO, fmt::format("the daemon's reply is not JSON: {}:{}: {}", value.error().place.line,
                                        value.error().place.column, value.error().text));
    return std::move(*value);
}

} // namespace teamo::control
