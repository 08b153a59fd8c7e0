// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/netlink_socket.h"

#include <arpa/inet.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/genl/genl.h>
#include <sys/socket.h>

#include <cstring>

namespace teamo {
namespace {

// The default of 208 KiB holds 92 link messages; 16 MiB holds the events of 2,000 commands. An overrun is
// still possible: see receive().
constexpr int receive_buffer = 16 << 20;
constexpr int dump_attempts = 8;

struct Answer {
    const NetlinkSocket::Receiver& receiver;
    int error = 0;
    std::string text{};
    bool single = false; ///< the first message is the whole answer
    bool done = false;
    bool interrupted = false;
};

std::string text_of(const Answer& answer) {
    const auto reason = errno_text(answer.error);
    return answer.text.empty() ? reason : fmt::format("{} ({})", answer.text, reason);
}

/// The kernel's own error text, if there is one (NETLINK_EXT_ACK).
std::string kernel_text(const nlmsghdr* header, const nlmsgerr* error) {
    if ((header->nlmsg_flags & NLM_F_ACK_TLVS) == 0) return {};
    std::size_t offset = NLMSG_ALIGN(sizeof(nlmsgerr));
    if ((header->nlmsg_flags & NLM_F_CAPPED) == 0)
        offset = NLMSG_ALIGN(sizeof(int)) + NLMSG_ALIGN(error->msg.nlmsg_len);
    const auto length = static_cast<std::size_t>(nlmsg_datalen(header));
    if (length <= offset) return {};
    const auto* first = reinterpret_cast<const std::byte*>(error) + offset;
    return text_in(attribute_in(std::span(first, length - offset), NLMSGERR_ATTR_MSG));
}

int on_valid(nl_msg* message, void* context) noexcept {
    auto* answer = static_cast<Answer*>(context);
    if (answer->receiver) answer->receiver(nlmsg_hdr(message));
    answer->done = answer->done || answer->single;
    return NL_OK;
}

int on_acknowledged(nl_msg* /*message*/, void* context) noexcept {
    static_cast<Answer*>(context)->done = true;
    return NL_STOP;
}

int on_interrupted(nl_msg* /*message*/, void* context) noexcept {
    static_cast<Answer*>(context)->interrupted = true;
    return NL_OK; // the rest must be read too
}

/// The kernel ends a dump that failed with its error in this message (net/netlink/af_netlink.c:
/// netlink_dump).
int on_finish(nl_msg* message, void* context) noexcept {
    auto* answer = static_cast<Answer*>(context);
    const auto* header = nlmsg_hdr(message);
    int error = 0;
    if (nlmsg_datalen(header) >= static_cast<int>(sizeof error))
        std::memcpy(&error, nlmsg_data(header), sizeof error);
    if (error < 0) answer->error = -error;
    answer->done = true;
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

/// Passes messages to the receiver of `answer`.
Handle<nl_cb, nl_cb_put> callbacks_for(Answer& answer) {
    Handle<nl_cb, nl_cb_put> callbacks(nl_cb_alloc(NL_CB_DEFAULT));
    if (!callbacks) throw std::bad_alloc();
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_valid, &answer);
    return callbacks;
}

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
    nl_socket_set_msg_buf_size(socket.get(), largest_datagram);
    nl_socket_disable_auto_ack(socket.get()); // the end of an answer: see exchange()
    return socket;
}

template <class Address>
std::optional<Address> copied(const nlattr* attribute, Address address, std::size_t size) {
    if (attribute == nullptr || static_cast<std::size_t>(nla_len(attribute)) != size) return std::nullopt;
    std::copy_n(static_cast<const std::uint8_t*>(nla_data(attribute)), size, address.bytes.begin());
    return address;
}

} // namespace

NlMessage make_message(int type, int flags) {
    NlMessage message(nlmsg_alloc_simple(type, flags));
    if (!message) throw std::bad_alloc();
    return message;
}

NlMessage make_generic_message(int family, std::uint8_t version, std::uint8_t command, int flags) {
    auto message = make_message(0, 0);
    genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_REQUEST | flags, command, version);
    return message;
}

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
    auto socket = TEAMO_TRY(connected(protocol));
    return NetlinkSocket(std::move(socket), protocol);
}

Result<NetlinkSocket> NetlinkSocket::open_strict(int protocol) {
    auto opened = TEAMO_TRY(open(protocol));
    const int on = 1;
    static_cast<void>(setsockopt(opened.fd(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on));
    opened.strict_ = true;
    return opened;
}

Result<NetlinkSocket> NetlinkSocket::listen(int protocol, std::initializer_list<int> groups) {
    auto socket = TEAMO_TRY(connected(protocol));
    const int fd = nl_socket_get_fd(socket.get());
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer, sizeof receive_buffer) < 0)
        static_cast<void>(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer));
    nl_socket_disable_seq_check(socket.get());
    if (nl_socket_set_nonblocking(socket.get()) < 0)
        return fail(EPROTO, "a netlink socket cannot be made non-blocking");
    for (const int group : groups)
        if (const int error = nl_socket_add_membership(socket.get(), group); error < 0)
            return fail(EPROTO, fmt::format("netlink group {}: {}", group, nl_geterror(error)));
    return NetlinkSocket(std::move(socket), protocol);
}

/// Replaces the socket after an exchange that was cut short: its remaining messages would be taken for the
/// answer to the next request, and libnl has counted a message that was never sent (nl_complete_msg).
tl::unexpected<Error> NetlinkSocket::reopen(int error, std::string text) {
    auto fresh = TEAMO_TRY(strict_ ? open_strict(protocol_) : open(protocol_));
    socket_ = std::move(fresh.socket_);
    return fail(error, std::move(text));
}

Result<NetlinkSocket::Dumped> NetlinkSocket::exchange(nl_msg* message, const Receiver& receiver) {
    // A request for one object, without NLM_F_ACK, has one answer, or an error.
    Answer answer{.receiver = receiver};
    answer.single = (nlmsg_hdr(message)->nlmsg_flags & (NLM_F_ACK | NLM_F_DUMP)) == 0;
    const auto callbacks = callbacks_for(answer);
    nl_cb_set(callbacks.get(), NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, &answer);
    nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &answer);
    nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, on_acknowledged, &answer);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, &answer);

    if (const int error = nl_send_auto(socket_.get(), message); error < 0)
        return reopen(errno_of(error), fmt::format("netlink: {}", nl_geterror(error)));
    while (!answer.done) {
        const int error = nl_recvmsgs(socket_.get(), callbacks.get());
        if (error < 0 && answer.error == 0)
            return reopen(errno_of(error), fmt::format("netlink: {}", nl_geterror(error)));
    }
    if (answer.error == 0) return answer.interrupted ? Dumped::interrupted : Dumped::whole;
    return fail(answer.error, text_of(answer));
}

Result<> NetlinkSocket::request(NlMessage message) {
    nlmsg_hdr(message.get())->nlmsg_flags |= NLM_F_ACK;
    TEAMO_TRY(exchange(message.get(), {}));
    return {};
}

Result<> NetlinkSocket::send_batch(int subsystem, std::span<const NlMessage> messages) {
    std::vector<std::byte> batch;
    const auto add = [&batch](nl_msg* message) {
        const auto* header = nlmsg_hdr(message);
        const auto* first = reinterpret_cast<const std::byte*>(header);
        batch.insert(batch.end(), first, first + header->nlmsg_len);
        batch.resize(NLMSG_ALIGN(batch.size()));
    };
    const auto edge = [subsystem](int type) {
        return make_message(type, NLM_F_REQUEST,
                            nfgenmsg{.nfgen_family = AF_UNSPEC,
                                     .version = NFNETLINK_V0,
                                     .res_id = htons(static_cast<std::uint16_t>(subsystem))});
    };
    add(edge(NFNL_MSG_BATCH_BEGIN).get());
    for (const auto& message : messages) {
        nlmsg_hdr(message.get())->nlmsg_flags |= NLM_F_ACK;
        nl_complete_msg(socket_.get(), message.get());
        add(message.get());
    }
    add(edge(NFNL_MSG_BATCH_END).get());
    if (const int error = nl_sendto(socket_.get(), batch.data(), batch.size()); error < 0)
        return reopen(errno_of(error), fmt::format("netlink: {}", nl_geterror(error)));
    return {};
}

Result<> NetlinkSocket::transaction(int subsystem, std::vector<NlMessage> messages) {
    TEAMO_TRY(send_batch(subsystem, messages));
    Answer answer{.receiver = {}};
    const auto callbacks = callbacks_for(answer);
    nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, on_acknowledged, &answer);
    nl_cb_set(callbacks.get(), NL_CB_SEQ_CHECK, NL_CB_CUSTOM, skip_sequence_check, nullptr);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, &answer);
    // Each message has an answer, but a batch that is refused as a whole has one.
    for (std::size_t answered = 0; answered < messages.size(); ++answered) {
        const int error = nl_recvmsgs(socket_.get(), callbacks.get());
        if (answer.error != 0) return reopen(answer.error, text_of(answer));
        if (error < 0) return reopen(errno_of(error), fmt::format("netlink: {}", nl_geterror(error)));
    }
    return {};
}

Result<NetlinkSocket::Dumped> NetlinkSocket::dump(const std::function<NlMessage()>& make,
                                                  const Receiver& receiver,
                                                  const std::function<void()>& restart) {
    Result<Dumped> last = Dumped::whole;
    for (int attempt = 0; attempt < dump_attempts; ++attempt) {
        restart();
        const auto message = make();
        last = exchange(message.get(), receiver);
        const bool again = last ? *last == Dumped::interrupted : last.error().number == EINTR;
        if (!again) return last;
    }
    return last;
}

Result<NetlinkSocket::Received> NetlinkSocket::receive(const Receiver& receiver) {
    Answer answer{.receiver = receiver};
    const auto callbacks = callbacks_for(answer);
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

nlattr* attribute_in(std::span<const std::byte> attributes, int type) {
    // nla_find() does not change the attributes.
    auto* first = reinterpret_cast<nlattr*>(const_cast<std::byte*>(attributes.data()));
    return nla_find(first, static_cast<int>(attributes.size()), type);
}

nlattr* attribute_in(const nlattr* nest, int type) {
    if (nest == nullptr) return nullptr;
    return nla_find(static_cast<nlattr*>(nla_data(nest)), nla_len(nest), type);
}

std::span<const std::byte> generic_attributes(const nlmsghdr* message) {
    const std::span<const std::byte> whole(static_cast<const std::byte*>(nlmsg_data(message)),
                                           static_cast<std::size_t>(nlmsg_datalen(message)));
    return whole.subspan(std::min<std::size_t>(GENL_HDRLEN, whole.size()));
}

std::string text_in(const nlattr* attribute) {
    if (attribute == nullptr) return {};
    const auto* text = static_cast<const char*>(nla_data(attribute));
    return {text, strnlen(text, static_cast<std::size_t>(nla_len(attribute)))};
}

std::optional<MacAddress> mac_in(const nlattr* attribute) {
    return copied(attribute, MacAddress{}, MacAddress{}.bytes.size());
}

std::optional<IpAddress> ip_in(const nlattr* attribute, int family) {
    const IpAddress address{.ipv6 = family == AF_INET6};
    return copied(attribute, address, address.size());
}

} // namespace teamo
