// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/netlink_socket.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <sys/socket.h>

namespace teamo {
namespace {

// The default of 208 KiB holds 92 link messages; 16 MiB holds the events of 2,000 commands. An overrun is
// still possible: see receive().
constexpr int receive_buffer = 16 << 20;
constexpr int dump_attempts = 8;

struct Answer {
    const NetlinkSocket::Receiver* receiver = nullptr;
    int error = 0;
    std::string text;
    bool done = false;
};

/// The kernel's own error text, if there is one (NETLINK_EXT_ACK).
std::string kernel_text(const nlmsghdr* header, const nlmsgerr* error) {
    if ((header->nlmsg_flags & NLM_F_ACK_TLVS) == 0) return {};
    std::size_t offset = NLMSG_ALIGN(sizeof(nlmsgerr));
    if ((header->nlmsg_flags & NLM_F_CAPPED) == 0)
        offset = NLMSG_ALIGN(sizeof(int)) + NLMSG_ALIGN(error->msg.nlmsg_len);
    const auto length = static_cast<std::size_t>(nlmsg_datalen(header));
    if (length <= offset) return {};
    auto* first =
        reinterpret_cast<nlattr*>(const_cast<std::byte*>(reinterpret_cast<const std::byte*>(error)) + offset);
    const auto* text = nla_find(first, static_cast<int>(length - offset), NLMSGERR_ATTR_MSG);
    return text == nullptr ? std::string() : std::string(nla_get_string(text));
}

int on_valid(nl_msg* message, void* context) noexcept {
    const auto* answer = static_cast<const Answer*>(context);
    if (answer->receiver != nullptr && *answer->receiver) (*answer->receiver)(nlmsg_hdr(message));
    return NL_OK;
}

int on_finish(nl_msg* /*message*/, void* context) noexcept {
    static_cast<Answer*>(context)->done = true;
    return NL_STOP;
}

int on_error(sockaddr_nl* /*from*/, nlmsgerr* error, void* context) noexcept {
    auto* answer = static_cast<Answer*>(context);
    answer->error = -error->error;
    const auto* header =
        reinterpret_cast<const nlmsghdr*>(reinterpret_cast<const std::byte*>(error) - NLMSG_HDRLEN);
    answer->text = kernel_text(header, error);
    answer->done = true;
    return NL_STOP;
}

/// The errno for a failure of libnl, whose own numbers are fewer. Call it at once: it may read `errno`.
int errno_of(int error) {
    switch (-error) {
    case NLE_INTR: return EINTR;
    case NLE_AGAIN: return EAGAIN;
    case NLE_NOMEM: return ENOMEM;
    case NLE_BUSY: return EBUSY;
    case NLE_FAILURE: return errno != 0 ? errno : EPROTO; // libnl has no number for it
    default: return EPROTO;
    }
}

int skip_sequence_check(nl_msg* /*message*/, void* /*context*/) noexcept { return NL_OK; }

Result<NlSocket> connected(int protocol) {
    NlSocket socket(nl_socket_alloc());
    if (!socket) throw std::bad_alloc();
    errno = 0;
    if (const int error = nl_connect(socket.get(), protocol); error < 0)
        return fail_errno(errno_of(error), "cannot open a netlink socket");
    const int on = 1;
    // Without it (old kernels) errors have no text.
    static_cast<void>(
        setsockopt(nl_socket_get_fd(socket.get()), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on));
    return socket;
}

} // namespace

NlMessage make_message(int type, int flags) {
    NlMessage message(nlmsg_alloc_simple(type, flags));
    if (!message) throw std::bad_alloc();
    return message;
}

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
    auto socket = TEAMO_TRY(connected(protocol));
    nl_socket_set_msg_buf_size(socket.get(), 1 << 18);
    return NetlinkSocket(std::move(socket), protocol);
}

Result<NetlinkSocket> NetlinkSocket::listen(int protocol, std::initializer_list<int> groups) {
    auto socket = connected(protocol);
    if (!socket) return tl::unexpected(socket.error());
    const int fd = nl_socket_get_fd(socket->get());
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer, sizeof receive_buffer) < 0)
        static_cast<void>(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer));
    nl_socket_set_msg_buf_size(socket->get(), 1 << 18);
    nl_socket_disable_seq_check(socket->get());
    if (nl_socket_set_nonblocking(socket->get()) < 0)
        return fail(EPROTO, "a netlink socket cannot be made non-blocking");
    for (const int group : groups)
        if (const int error = nl_socket_add_membership(socket->get(), group); error < 0)
            return fail(EPROTO, fmt::format("netlink group {}: {}", group, nl_geterror(error)));
    return NetlinkSocket(std::move(*socket), protocol);
}

/// Replaces the socket after an exchange that was cut short: its remaining messages would be taken for the
/// answer to the next request, and libnl has counted a message that was never sent (nl_complete_msg).
Result<> NetlinkSocket::reopen(int error, std::string text) {
    auto fresh = TEAMO_TRY(open(protocol_));
    socket_ = std::move(fresh.socket_);
    return fail(error, std::move(text));
}

Result<> NetlinkSocket::exchange(nl_msg* message, const Receiver& receiver) {
    Answer answer{.receiver = &receiver, .error = 0, .text = {}, .done = false};
    Handle<nl_cb, nl_cb_put> callbacks(nl_cb_alloc(NL_CB_DEFAULT));
    if (!callbacks) throw std::bad_alloc();
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_valid, &answer);
    nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &answer);
    nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, on_finish, &answer);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, &answer);

    if (const int error = nl_send_auto(socket_.get(), message); error < 0)
        return reopen(errno_of(error), fmt::format("netlink: {}", nl_geterror(error)));
    while (!answer.done) {
        const int error = nl_recvmsgs(socket_.get(), callbacks.get());
        if (error == -NLE_DUMP_INTR) return reopen(EINTR, "the kernel's list changed while it was read");
        if (error < 0 && answer.error == 0)
            return reopen(errno_of(error), fmt::format("netlink: {}", nl_geterror(error)));
    }
    if (answer.error == 0) return {};
    const auto reason = errno_text(answer.error);
    return fail(answer.error, answer.text.empty() ? reason : fmt::format("{} ({})", answer.text, reason));
}

Result<> NetlinkSocket::request(NlMessage message) {
    nlmsg_hdr(message.get())->nlmsg_flags |= NLM_F_ACK;
    return exchange(message.get(), {});
}

Result<> NetlinkSocket::dump(const std::function<NlMessage()>& make, const Receiver& receiver,
                             const std::function<void()>& restart) {
    Result<> last;
    for (int attempt = 0; attempt < dump_attempts; ++attempt) {
        restart();
        const auto message = make();
        last = exchange(message.get(), receiver);
        if (last || last.error().number != EINTR) return last;
    }
    return last;
}

Result<NetlinkSocket::Received> NetlinkSocket::receive(const Receiver& receiver) {
    Answer answer{.receiver = &receiver, .error = 0, .text = {}, .done = false};
    Handle<nl_cb, nl_cb_put> callbacks(nl_cb_alloc(NL_CB_DEFAULT));
    if (!callbacks) throw std::bad_alloc();
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_valid, &answer);
    nl_cb_set(callbacks.get(), NL_CB_SEQ_CHECK, NL_CB_CUSTOM, skip_sequence_check, nullptr);

    auto received = Received::all;
    while (true) {
        errno = 0;
        const int error = nl_recvmsgs(socket_.get(), callbacks.get());
        if (error == -NLE_AGAIN) return received;
        if (error == -NLE_NOMEM || error == -NLE_MSG_OVERFLOW || error == -NLE_MSG_TRUNC)
            received = Received::lost; // ENOBUFS (libnl: NLE_NOMEM); pending events are still read
        else if (error < 0)
            return fail(EPROTO, fmt::format("netlink events: {}", nl_geterror(error)));
    }
}

std::span<const std::byte> generic_attributes(const nlmsghdr* message) {
    const std::span<const std::byte> whole(static_cast<const std::byte*>(nlmsg_data(message)),
                                           static_cast<std::size_t>(nlmsg_datalen(message)));
    return whole.subspan(std::min<std::size_t>(GENL_HDRLEN, whole.size()));
}

} // namespace teamo
