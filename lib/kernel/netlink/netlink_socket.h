// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One netlink socket, of libnl, with the two things libnl loses put back: the kernel's own errno and
// text (libnl folds ENOBUFS and ENOMEM, ESRCH and ENOENT, and most others into one), and the word that
// events were lost.
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>

namespace teamo {

using NlSocket = Handle<nl_sock, nl_socket_free>;
using NlMessage = Handle<nl_msg, nlmsg_free>;

/// A message to be sent; never null (running out of memory ends the process, as elsewhere).
NlMessage make_message(int type, int flags);

class NetlinkSocket {
public:
    using Receiver = std::function<void(const nlmsghdr*)>;

    /// For requests and dumps; `protocol` is NETLINK_ROUTE or NETLINK_GENERIC.
    static Result<NetlinkSocket> open(int protocol);

    /// For events of the groups, with a receive buffer of 16 MiB where the kernel allows it. Not blocking.
    static Result<NetlinkSocket> listen(int protocol, std::initializer_list<int> groups);

    /// Sends, and waits for the kernel's word. The error carries its errno and its own text.
    Result<> request(NlMessage message);

    /// Sends, and hands over every message of the answer. An answer that changed while it was made
    /// (NLM_F_DUMP_INTR) is handed over again from the start, after `restart`, a few times at most.
    Result<> dump(const std::function<NlMessage()>& make, const Receiver& receiver,
                  const std::function<void()>& restart);

    enum class Received { all, lost };
    /// Hands over every event that waits. `lost`: the buffer ran over (ENOBUFS), read everything anew.
    Result<Received> receive(const Receiver& receiver);

    int fd() const { return nl_socket_get_fd(socket_.get()); }
    nl_sock* get() const { return socket_.get(); }

private:
    NetlinkSocket(NlSocket socket, int protocol) : socket_(std::move(socket)), protocol_(protocol) {}
    Result<> begin_anew(int error, std::string text);
    Result<> exchange(nl_msg* message, const Receiver& receiver);
    NlSocket socket_;
    int protocol_;
};

/// The attributes of a generic netlink message, behind its header; they live as long as the message.
std::span<const std::byte> generic_attributes(const nlmsghdr* message);

} // namespace teamo
