// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A netlink socket of libnl, with two things that libnl loses: the kernel's own errno and text (libnl maps
// ENOBUFS and ENOMEM, ESRCH and ENOENT, and most others to one number), and the information that events were
// lost.
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace teamo {

using NlSocket = Handle<nl_sock, nl_socket_free>;
using NlMessage = Handle<nl_msg, nlmsg_free>;

/// A message to send; never null (std::bad_alloc ends the process, as elsewhere).
NlMessage make_message(int type, int flags);

/// A message that begins with the header of its family, such as ifinfomsg.
template <class Header>
NlMessage make_message(int type, int flags, Header header) {
    auto message = make_message(type, flags);
    if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    return message;
}

class NetlinkSocket {
public:
    using Receiver = std::function<void(const nlmsghdr*)>;

    /// For requests and dumps; `protocol` is NETLINK_ROUTE or NETLINK_GENERIC.
    static Result<NetlinkSocket> open(int protocol);

    /// For events of the groups, with a receive buffer of 16 MiB if the kernel allows it. Non-blocking.
    static Result<NetlinkSocket> listen(int protocol, std::initializer_list<int> groups);

    /// Sends, and waits for the kernel's answer. The error has the kernel's errno and text.
    Result<> request(NlMessage message);

    /// Sends, and passes every message of the answer to `receiver`. If the list changed during the dump
    /// (NLM_F_DUMP_INTR), calls `restart` and starts again, at most 8 times in all.
    Result<> dump(const std::function<NlMessage()>& make, const Receiver& receiver,
                  const std::function<void()>& restart);

    /// As dump(). Returns what `parse` returns for each message, without the messages for which it returns
    /// none.
    template <class Make, class Parse>
    auto list(const Make& make, const Parse& parse) {
        std::vector<typename std::invoke_result_t<Parse, const nlmsghdr*>::value_type> entries;
        const auto take = [&](const nlmsghdr* message) {
            if (auto entry = parse(message)) entries.push_back(std::move(*entry));
        };
        return dump(make, take, [&entries] { entries.clear(); }).map([&entries] {
            return std::move(entries);
        });
    }

    enum class Received { all, lost };
    /// Passes every pending event to `receiver`. `lost`: the buffer overran (ENOBUFS); read everything again.
    Result<Received> receive(const Receiver& receiver);

    int fd() const { return nl_socket_get_fd(socket_.get()); }
    nl_sock* get() const { return socket_.get(); }

private:
    NetlinkSocket(NlSocket socket, int protocol) : socket_(std::move(socket)), protocol_(protocol) {}
    Result<> reopen(int error, std::string text);
    Result<> exchange(nl_msg* message, const Receiver& receiver);
    NlSocket socket_;
    int protocol_;
};

/// The attributes of a generic netlink message, which follow its header; valid as long as the message.
std::span<const std::byte> generic_attributes(const nlmsghdr* message);

} // namespace teamo
