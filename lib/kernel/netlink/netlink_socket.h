// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A netlink socket of libnl, and the messages that it sends and receives. The socket keeps two things that
// libnl loses: the kernel's own errno and text (libnl maps ENOBUFS and ENOMEM, ESRCH and ENOENT, and most
// others to one number), and the information that events were lost.
#pragma once

#include "base/handle.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/result.h"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace teamo {

using NlSocket = Handle<nl_sock, nl_socket_free>;
using NlMessage = Handle<nl_msg, nlmsg_free>;

/// The size in bytes of the buffer for a datagram; libnl allocates one for each that it receives.
constexpr int largest_datagram = 1 << 18;

/// A message to send; never null (std::bad_alloc ends the process, as elsewhere).
NlMessage make_message(int type, int flags);

/// A message that begins with the header of its family, such as ifinfomsg.
template <class Header>
NlMessage make_message(int type, int flags, Header header) {
    auto message = make_message(type, flags);
    if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    return message;
}

/// A nest of attributes, which ends with this object.
class Nest {
public:
    Nest(nl_msg* message, int type) : message_(message), start_(nla_nest_start(message, type)) {
        if (start_ == nullptr) throw std::bad_alloc();
    }
    ~Nest() { nla_nest_end(message_, start_); }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

private:
    nl_msg* message_;
    nlattr* start_;
};

/// A request to a family of generic netlink.
NlMessage make_generic_message(int family, std::uint8_t version, std::uint8_t command, int flags);

class NetlinkSocket {
public:
    using Receiver = std::function<void(const nlmsghdr*)>;

    /// For requests and dumps; `protocol` is NETLINK_ROUTE or NETLINK_GENERIC.
    static Result<NetlinkSocket> open(int protocol);

    /// The same, and each dump gives only what its request names (NETLINK_GET_STRICT_CHK): the kernel does
    /// not walk all devices for one. Older kernels give all.
    static Result<NetlinkSocket> open_strict(int protocol);

    /// For events of the groups, with a receive buffer of 16 MiB if the kernel allows it. Non-blocking.
    static Result<NetlinkSocket> listen(int protocol, std::initializer_list<int> groups);

    /// Sends, and waits for the kernel's answer. The error has the kernel's errno and text.
    Result<> request(NlMessage message);

    /// Sends all of them as one transaction of nfnetlink: the kernel does what they say at once, or nothing.
    Result<> transaction(int subsystem, std::vector<NlMessage> messages);

    enum class Dumped { whole, interrupted };
    /// Sends, and passes every message of the answer to `receiver`. If the list changed during the dump
    /// (NLM_F_DUMP_INTR), calls `restart` and starts again, at most 8 times in all. `interrupted`: it changed
    /// each time; what is missing in the last one need not be gone.
    Result<Dumped> dump(const std::function<NlMessage()>& make, const Receiver& receiver,
                        const std::function<void()>& restart);

    /// As dump(). Returns the value that `add` puts together: it gets each message, and the value so far.
    /// EINTR: the dump was interrupted each time.
    template <class Value, class Make, class Add>
    Result<Value> collect(const Make& make, const Add& add) {
        Value value{};
        const auto take = [&](const nlmsghdr* message) { add(message, value); };
        if (TEAMO_TRY(dump(make, take, [&] { value = {}; })) == Dumped::interrupted)
            return fail(EINTR, "the kernel's list changed while it was read");
        return value;
    }

    /// As collect(). Returns what `parse` returns for each message, without the messages for which it returns
    /// none.
    template <class Make, class Parse,
              class Entry = typename std::invoke_result_t<Parse, const nlmsghdr*>::value_type>
    Result<std::vector<Entry>> list(const Make& make, const Parse& parse) {
        return collect<std::vector<Entry>>(make, [&](const nlmsghdr* message, std::vector<Entry>& entries) {
            if (auto entry = parse(message)) entries.push_back(std::move(*entry));
        });
    }

    enum class Received { all, lost };
    /// Passes every pending event to `receiver`. `lost`: the buffer overran (ENOBUFS); read everything again.
    Result<Received> receive(const Receiver& receiver);

    int fd() const { return nl_socket_get_fd(socket_.get()); }
    nl_sock* get() const { return socket_.get(); }

private:
    NetlinkSocket(NlSocket socket, int protocol) : socket_(std::move(socket)), protocol_(protocol) {}
    tl::unexpected<Error> reopen(int error, std::string text);
    Result<Dumped> exchange(nl_msg* message, const Receiver& receiver);
    Result<> send_batch(int subsystem, std::span<const NlMessage> messages);
    NlSocket socket_;
    int protocol_;
    bool strict_ = false;
};

// Attributes of a received message. A null pointer stands for one that the message does not have.

/// The header that follows the netlink header. Null: a message of another type, or too short.
template <class Header>
const Header* header_in(const nlmsghdr* message, int type) {
    if (message->nlmsg_type != type || nlmsg_datalen(message) < static_cast<int>(sizeof(Header)))
        return nullptr;
    return static_cast<const Header*>(nlmsg_data(message));
}

/// An attribute of a message that begins with `Header`.
template <class Header>
nlattr* attribute_in(const nlmsghdr* message, int type) {
    return nlmsg_find_attr(const_cast<nlmsghdr*>(message), sizeof(Header), type);
}
nlattr* attribute_in(std::span<const std::byte> attributes, int type);
/// An attribute in a nest, which may be null.
nlattr* attribute_in(const nlattr* nest, int type);

/// The attributes of a generic netlink message, which follow its header; valid as long as the message.
std::span<const std::byte> generic_attributes(const nlmsghdr* message);

/// Calls `take` with each attribute in a nest, which may be null.
template <class Take>
void each_in(const nlattr* nest, const Take& take) {
    if (nest == nullptr) return;
    auto* entry = static_cast<nlattr*>(nla_data(nest));
    for (int rest = nla_len(nest); nla_ok(entry, rest) != 0; entry = nla_next(entry, &rest))
        take(entry);
}

/// Without the terminating zero.
std::string text_in(const nlattr* attribute);

/// None: no attribute, or not the length of an Ethernet address.
std::optional<MacAddress> mac_in(const nlattr* attribute);

/// `family`: AF_INET or AF_INET6. None: no attribute, or not the length of such an address.
std::optional<IpAddress> ip_in(const nlattr* attribute, int family);

/// A struct of the kernel, which may be shorter or longer than ours. Zeros: no attribute.
template <class Struct>
Struct struct_in(const nlattr* attribute) {
    Struct value{};
    if (attribute != nullptr)
        std::copy_n(static_cast<const std::byte*>(nla_data(attribute)),
                    std::min(static_cast<std::size_t>(nla_len(attribute)), sizeof value),
                    reinterpret_cast<std::byte*>(&value));
    return value;
}

/// None: no attribute, or one that is too short.
template <class Number = std::uint32_t>
std::optional<Number> number_in(const nlattr* attribute) {
    if (attribute == nullptr || nla_len(attribute) < static_cast<int>(sizeof(Number))) return std::nullopt;
    return struct_in<Number>(attribute);
}

} // namespace teamo
